#include "core/schema/trace_file.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <type_traits>

#include "core/base/check.h"
#include "core/schema/chakra.pb.h"

namespace drydock {
namespace {

namespace chakra = ChakraProtoMsg;
using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;

constexpr const char* kTraceVersion = "0.0.4";
constexpr const char* kOpAttribute = "drydock.op";
// The values of "drydock.op", in order.
enum OpField { kWork, kRole, kPhase, kStream, kTag, kLayer, kMicrobatch, kChunk, kOpFieldCount };

chakra::CollectiveCommType ChakraType(CollectiveType type) {
  switch (type) {
    case CollectiveType::kAllReduce:
      return chakra::ALL_REDUCE;
    case CollectiveType::kAllGather:
      return chakra::ALL_GATHER;
    case CollectiveType::kReduceScatter:
      return chakra::REDUCE_SCATTER;
    case CollectiveType::kBroadcast:
      return chakra::BROADCAST;
    case CollectiveType::kReduce:
      return chakra::REDUCE;
    case CollectiveType::kAllToAll:
    case CollectiveType::kAllToAllV:
      return chakra::ALL_TO_ALL;
    case CollectiveType::kGather:
      return chakra::GATHER;
    case CollectiveType::kScatter:
      return chakra::SCATTER;
    case CollectiveType::kSendRecv:
    case CollectiveType::kGrouped:
      break;
  }
  CHECK(false);
}

// Chakra has no groups of calls: of one, the part with the most bytes; messages are exchanged.
chakra::CollectiveCommType ChakraType(const CommCall& call) {
  if (call.collective != CollectiveType::kGrouped) return ChakraType(call.collective);
  const auto largest =
      std::max_element(call.parts.begin(), call.parts.end(),
                       [](const CommCall& a, const CommCall& b) { return a.bytes() < b.bytes(); });
  return largest->collective == CollectiveType::kSendRecv ? chakra::ALL_TO_ALL
                                                          : ChakraType(largest->collective);
}

chakra::NodeType ChakraType(OpKind kind) {
  switch (kind) {
    case OpKind::kCompute:
      return chakra::COMP_NODE;
    case OpKind::kCollective:
      return chakra::COMM_COLL_NODE;
    case OpKind::kSend:
      return chakra::COMM_SEND_NODE;
    case OpKind::kRecv:
      return chakra::COMM_RECV_NODE;
  }
  CHECK(false);
}

chakra::AttributeProto* AddAttribute(const char* name, chakra::Node* node) {
  chakra::AttributeProto* attribute = node->add_attr();
  attribute->set_name(name);
  return attribute;
}

// Chakra's all-gather size is one rank's shard, ours the gathered output.
int64_t ChakraSize(const CommCall& call) {
  const int64_t bytes = call.bytes().count();
  return call.collective == CollectiveType::kAllGather ? bytes / call.group_size : bytes;
}

void AddCompute(const Workload& workload, const Op& op, chakra::Node* node) {
  double flops = 0;
  Bytes bytes;
  for (const uint32_t index : workload.blocks[op.work].submodules) {
    flops += workload.submodules[index].flops;
    bytes += workload.submodules[index].bytes;
  }
  AddAttribute("num_ops", node)->set_int64_val(static_cast<int64_t>(std::min(flops, 9.0e18)));
  AddAttribute("tensor_size", node)->set_uint64_val(static_cast<uint64_t>(bytes.count()));
}

void AddCommunication(const Workload& workload, const Op& op, chakra::Node* node) {
  const CommCall& call = workload.calls[op.work];
  AddAttribute("comm_size", node)->set_int64_val(ChakraSize(call));
  AddAttribute("pg_name", node)->set_string_val(fmt::format("{}", op.role + 1));
  if (op.kind == OpKind::kCollective) {
    AddAttribute("comm_type", node)->set_int64_val(ChakraType(call));
    return;
  }
  AddAttribute(op.kind == OpKind::kSend ? "comm_dst" : "comm_src", node)
      ->set_int32_val(op.kind == OpKind::kSend ? call.peer : call.root);
  AddAttribute("comm_tag", node)->set_int32_val(op.tag);
}

void FillNode(const Workload& workload, const Op& op, chakra::Node* node) {
  node->set_name(OpName(workload, op));
  node->set_type(ChakraType(op.kind));
  AddAttribute("is_cpu_op", node)->set_bool_val(false);
  if (op.kind == OpKind::kCompute)
    AddCompute(workload, op, node);
  else
    AddCommunication(workload, op, node);
  chakra::Int64List* own = AddAttribute(kOpAttribute, node)->mutable_int64_list();
  const int64_t values[kOpFieldCount] = {op.work,       op.role, static_cast<int64_t>(op.phase),
                                         op.stream,     op.tag,  op.layer,
                                         op.microbatch, op.chunk};
  own->mutable_values()->Add(std::begin(values), std::end(values));
}

bool ReadOp(const chakra::Node& node, Op* op) {
  switch (node.type()) {
    case chakra::COMP_NODE:
      op->kind = OpKind::kCompute;
      break;
    case chakra::COMM_COLL_NODE:
      op->kind = OpKind::kCollective;
      break;
    case chakra::COMM_SEND_NODE:
      op->kind = OpKind::kSend;
      break;
    case chakra::COMM_RECV_NODE:
      op->kind = OpKind::kRecv;
      break;
    default:
      return false;
  }
  for (const chakra::AttributeProto& attribute : node.attr()) {
    if (attribute.name() != kOpAttribute) continue;
    const auto& values = attribute.int64_list().values();
    if (values.size() != kOpFieldCount) return false;
    const auto narrow = [&values](OpField field, auto* out) {
      *out = static_cast<std::remove_pointer_t<decltype(out)>>(values[field]);
      return static_cast<int64_t>(*out) == values[field];
    };
    return narrow(kWork, &op->work) && narrow(kRole, &op->role) && narrow(kPhase, &op->phase) &&
           narrow(kStream, &op->stream) && narrow(kTag, &op->tag) && narrow(kLayer, &op->layer) &&
           narrow(kMicrobatch, &op->microbatch) && narrow(kChunk, &op->chunk);
  }
  return false;
}

bool InTables(const Workload& workload, const Op& op) {
  const size_t works = op.kind == OpKind::kCompute ? workload.blocks.size() : workload.calls.size();
  if (op.work >= works || op.stream >= workload.streams.size() ||
      static_cast<size_t>(op.phase) >= PhaseNames().size()) {
    return false;
  }
  if (op.kind == OpKind::kCompute) return true;
  const bool to_one = workload.calls[op.work].collective == CollectiveType::kSendRecv;
  return op.role < workload.roles.size() && to_one == (op.kind != OpKind::kCollective);
}

}  // namespace

std::string OpName(const Workload& workload, const Op& op) {
  std::string name;
  if (op.kind == OpKind::kCompute) {
    name = workload.blocks[op.work].name;
  } else {
    const char* what = op.kind == OpKind::kSend ? "send" : "recv";
    const CommCall& call = workload.calls[op.work];
    name = fmt::format("{}.{}", workload.roles[op.role].name,
                       op.kind == OpKind::kCollective
                           ? CollectiveTypeNames()[static_cast<size_t>(call.collective)]
                           : what);
  }
  if (op.microbatch >= 0) name += fmt::format(" mb{}", op.microbatch);
  if (op.layer >= 0) name += fmt::format(" layer{}", op.layer);
  return name;
}

std::string EncodeTrace(const Workload& workload, const Program& program) {
  std::string out;
  {
    StringOutputStream stream(&out);
    CodedOutputStream coded(&stream);
    const auto write = [&coded](const google::protobuf::MessageLite& message) {
      coded.WriteVarint32(static_cast<uint32_t>(message.ByteSizeLong()));
      message.SerializeWithCachedSizes(&coded);
    };
    chakra::GlobalMetadata metadata;
    metadata.set_version(kTraceVersion);
    write(metadata);
    std::vector<int64_t> last_on_stream(workload.streams.size(), -1);
    chakra::Node node;
    for (size_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      node.Clear();
      node.set_id(i);
      FillNode(workload, op, &node);
      const auto dependencies = program.dependencies(i);
      for (const uint32_t dependency : dependencies) node.add_data_deps(dependency);
      int64_t& before = last_on_stream[op.stream];
      if (before >= 0 &&
          std::find(dependencies.begin(), dependencies.end(), before) == dependencies.end()) {
        node.add_ctrl_deps(static_cast<uint64_t>(before));
      }
      before = static_cast<int64_t>(i);
      write(node);
    }
  }
  return out;
}

Result<Program> DecodeTrace(const std::string& content, const Workload& workload,
                            const std::string& path) {
  if (content.size() > INT32_MAX) return Error("the trace is larger than 2 GB", {path, 0, 0});
  const google::protobuf::LogSilencer quiet;  // our error says it
  ArrayInputStream stream(content.data(), static_cast<int>(content.size()));
  CodedInputStream coded(&stream);
  const auto read = [&coded, &content](google::protobuf::MessageLite* message) {
    uint32_t size = 0;
    if (!coded.ReadVarint32(&size)) return false;
    if (size > content.size() - static_cast<size_t>(coded.CurrentPosition())) return false;
    const auto limit = coded.PushLimit(static_cast<int>(size));
    message->Clear();
    const bool ok = message->MergeFromCodedStream(&coded) && coded.ConsumedEntireMessage();
    coded.PopLimit(limit);
    return ok;
  };
  const auto damaged = [&path](size_t node) {
    return Error(fmt::format("damaged: node {} cannot be read", node), {path, 0, 0});
  };
  chakra::GlobalMetadata metadata;
  if (!read(&metadata)) return damaged(0);
  Program program;
  program.dependency_begin.push_back(0);
  chakra::Node node;
  while (static_cast<size_t>(coded.CurrentPosition()) < content.size()) {
    const size_t index = program.ops.size();
    Op op;
    if (!read(&node) || node.id() != index || !ReadOp(node, &op) || !InTables(workload, op)) {
      return damaged(index);
    }
    for (const uint64_t dependency : node.data_deps()) {
      if (dependency >= index) return damaged(index);
      program.dependency.push_back(static_cast<uint32_t>(dependency));
    }
    program.ops.push_back(op);
    program.dependency_begin.push_back(static_cast<uint32_t>(program.dependency.size()));
  }
  return program;
}

}  // namespace drydock
