#include "core/schema/foreign/chakra_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/schema/artefacts/trace_codec.h"

namespace drydock {
namespace {

using trace_codec::chakra::AttributeProto;
using trace_codec::chakra::GlobalMetadata;
using trace_codec::chakra::Node;

void SetInteger(int64_t value, ChakraAttribute* out) {
  out->kind = ChakraAttribute::Kind::kInteger;
  out->integer = value;
}

void SetReal(double value, ChakraAttribute* out) {
  out->kind = ChakraAttribute::Kind::kReal;
  out->real = value;
}

int64_t Saturated(uint64_t value) {
  return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX));
}

ChakraAttribute Read(const AttributeProto& from) {
  ChakraAttribute to;
  to.name = from.name();
  switch (from.value_case()) {
    case AttributeProto::kInt32Val:
      SetInteger(from.int32_val(), &to);
      break;
    case AttributeProto::kInt64Val:
      SetInteger(from.int64_val(), &to);
      break;
    case AttributeProto::kUint32Val:
      SetInteger(from.uint32_val(), &to);
      break;
    case AttributeProto::kUint64Val:
      SetInteger(Saturated(from.uint64_val()), &to);
      break;
    case AttributeProto::kSint32Val:
      SetInteger(from.sint32_val(), &to);
      break;
    case AttributeProto::kSint64Val:
      SetInteger(from.sint64_val(), &to);
      break;
    case AttributeProto::kFixed32Val:
      SetInteger(from.fixed32_val(), &to);
      break;
    case AttributeProto::kFixed64Val:
      SetInteger(Saturated(from.fixed64_val()), &to);
      break;
    case AttributeProto::kSfixed32Val:
      SetInteger(from.sfixed32_val(), &to);
      break;
    case AttributeProto::kSfixed64Val:
      SetInteger(from.sfixed64_val(), &to);
      break;
    case AttributeProto::kBoolVal:
      SetInteger(from.bool_val() ? 1 : 0, &to);
      break;
    case AttributeProto::kBoolList: {  // of flags for all: 1 if every one is set
      bool all = true;
      for (const bool flag : from.bool_list().values()) all &= flag;
      SetInteger(all ? 1 : 0, &to);
      break;
    }
    case AttributeProto::kDoubleVal:
      SetReal(from.double_val(), &to);
      break;
    case AttributeProto::kFloatVal:
      SetReal(static_cast<double>(from.float_val()), &to);
      break;
    case AttributeProto::kStringVal:
      to.kind = ChakraAttribute::Kind::kText;
      to.text = from.string_val();
      break;
    default:
      break;
  }
  return to;
}

ChakraNode Read(const Node& from) {
  ChakraNode to;
  to.id = from.id();
  to.name = from.name();
  to.type = from.type();
  to.deps.assign(from.data_deps().begin(), from.data_deps().end());
  to.ctrl_deps.assign(from.ctrl_deps().begin(), from.ctrl_deps().end());
  to.duration_us = from.duration_micros();
  to.input_values = from.inputs().values();
  for (const AttributeProto& attribute : from.attr()) to.attributes.push_back(Read(attribute));
  return to;
}

}  // namespace

const std::vector<std::string>& ChakraKindNames() {
  static const std::vector<std::string> names = {
      "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
      "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};
  return names;
}

const ChakraAttribute* ChakraNode::Find(std::string_view wanted) const {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(),
                   [wanted](const ChakraAttribute& each) { return each.name == wanted; });
  return found == attributes.end() ? nullptr : &*found;
}

const int64_t* ChakraNode::Integer(std::string_view wanted) const {
  const ChakraAttribute* found = Find(wanted);
  if (found == nullptr || found->kind != ChakraAttribute::Kind::kInteger) return nullptr;
  return &found->integer;
}

Result<std::string> ChakraTraceText(const std::string& content, const std::string& path,
                                    std::string_view name) {
  const google::protobuf::LogSilencer quiet;  // the Error has the reason
  trace_codec::Reader reader(content);
  GlobalMetadata metadata;
  if (content.size() > INT32_MAX || !reader.Read(&metadata)) {
    return Error("this is not a Chakra trace: its first message cannot be read", {path, 0, 0});
  }
  for (const auto& attribute : metadata.attr()) {
    if (attribute.name() == name) return std::string(attribute.string_val());
  }
  return std::string();
}

Status ForEachChakraNode(const std::string& content, const std::string& path,
                         const std::function<Status(const ChakraNode&)>& visit) {
  if (content.size() > INT32_MAX) return Error("the trace is larger than 2 GB", {path, 0, 0});
  const google::protobuf::LogSilencer quiet;  // the Error has the reason
  trace_codec::Reader reader(content);
  GlobalMetadata metadata;
  if (!reader.Read(&metadata)) {
    return Error("this is not a Chakra trace: its first message cannot be read", {path, 0, 0});
  }
  Node node;
  for (size_t index = 0; !reader.AtEnd(); ++index) {
    const size_t begin = reader.Position();
    if (!reader.Read(&node)) {
      return Error(fmt::format("node {}, at byte {}, cannot be read: the trace is damaged or cut",
                               index, begin),
                   {path, 0, 0});
    }
    RETURN_IF_ERROR(visit(Read(node)));
  }
  return OkStatus();
}

}  // namespace drydock
