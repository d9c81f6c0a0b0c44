#include "core/schema/artefacts/rank_trace_file.h"

#include <fmt/format.h>

#include "core/schema/artefacts/trace_codec.h"
#include "core/schema/artefacts/trace_file.h"

namespace drydock {
namespace {

using trace_codec::chakra::AttributeProto;
using trace_codec::chakra::GlobalMetadata;
using trace_codec::chakra::Node;

constexpr const char* kDuration = "duration_ps";
constexpr int64_t kPsPerUs = 1'000'000;

void AddDuration(Time time, Node* node) {
  node->set_duration_micros(static_cast<uint64_t>((time.ps() + kPsPerUs - 1) / kPsPerUs));
  trace_codec::AddAttribute(kDuration, node)->set_int64_val(time.ps());
}

std::string ValueText(const AttributeProto& attribute) {
  switch (attribute.value_case()) {
    case AttributeProto::kInt32Val:
      return fmt::format("{}", attribute.int32_val());
    case AttributeProto::kInt64Val:
      return fmt::format("{}", attribute.int64_val());
    case AttributeProto::kUint64Val:
      return fmt::format("{}", attribute.uint64_val());
    case AttributeProto::kBoolVal:
      return attribute.bool_val() ? "true" : "false";
    case AttributeProto::kStringVal:
      return fmt::format("'{}'", attribute.string_val().substr(0, 40));
    default:
      return "a value of another type";
  }
}

const AttributeProto* Find(const Node& node, const std::string& name) {
  for (const AttributeProto& attribute : node.attr()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

// Returns "" if `node` has the attributes of `expected`, else the difference.
std::string Contradiction(const Node& node, const Node& expected) {
  if (node.name() != expected.name()) {
    return fmt::format("its name is '{}', but the tables say '{}'", node.name().substr(0, 80),
                       expected.name());
  }
  for (const AttributeProto& wanted : expected.attr()) {
    const AttributeProto* found = Find(node, wanted.name());
    const std::string value = ValueText(wanted);
    if (found == nullptr) return fmt::format("it has no {}, which is {}", wanted.name(), value);
    if (found->value_case() != wanted.value_case() || ValueText(*found) != value) {
      return fmt::format("its {} is {}, but the tables say {}", wanted.name(), ValueText(*found),
                         value);
    }
  }
  for (const AttributeProto& found : node.attr()) {
    if (found.name() != kDuration && Find(expected, found.name()) == nullptr) {
      return fmt::format("it has the unknown attribute {}", found.name().substr(0, 40));
    }
  }
  return "";
}

// Returns "" if the node's id and dependencies fit its place in the program, else the difference.
std::string Misplaced(const Node& node, size_t index) {
  if (node.id() != index) {
    return fmt::format("its id is {}; ids count up from 0 without gaps", node.id());
  }
  for (const uint64_t dependency : node.data_deps()) {
    if (dependency >= index) {
      return fmt::format("it depends on node {}, which is not before it", dependency);
    }
  }
  return "";
}

bool HasGroup(const Workload& workload, const Op& op, int rank) {
  if (!IsCommunication(op.kind)) return true;
  const int group = workload.group_of_rank[op.role][static_cast<size_t>(rank)];
  return group >= 0 && workload.groups[static_cast<size_t>(group)].ranks.size() ==
                           static_cast<size_t>(workload.calls[op.work].group_size);
}

}  // namespace

std::string EncodeRankTrace(const Workload& workload, int rank,
                            const std::vector<Time>& block_time) {
  const auto rank_class = static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)]);
  return trace_codec::Encode(
      workload, workload.programs[rank_class], rank, [&block_time](const Op& op, Node* node) {
        if (op.kind == OpKind::kCompute && block_time[op.work] != Time::Max()) {
          AddDuration(block_time[op.work], node);
        }
      });
}

Result<RankTrace> DecodeRankTrace(const std::string& content, const Workload& workload, int rank,
                                  const std::string& path) {
  if (content.size() > INT32_MAX) return Error("the trace is larger than 2 GB", {path, 0, 0});
  const google::protobuf::LogSilencer quiet;  // the Error has the reason
  trace_codec::Reader reader(content);
  RankTrace trace;
  Program& program = trace.program;
  const auto fail = [&path, &program](const std::string& what) {
    return Error(fmt::format("node {}: {}", program.ops.size(), what), {path, 0, 0});
  };
  GlobalMetadata metadata;
  if (!reader.Read(&metadata)) return fail("it cannot be read");
  program.dependency_begin.push_back(0);
  Node node, expected;
  while (!reader.AtEnd()) {
    const size_t index = program.ops.size();
    Op op;
    if (!reader.Read(&node)) return fail("it cannot be read");
    if (!trace_codec::ReadOp(node, &op)) return fail("it is not an op of an exploded workload");
    if (!trace_codec::InTables(workload, op)) return fail("its drydock.op is not in the tables");
    if (!HasGroup(workload, op, rank)) return fail("the rank has no group for its call");
    expected.Clear();
    trace_codec::FillNode(workload, op, rank, &expected);
    for (const std::string& wrong : {Misplaced(node, index), Contradiction(node, expected)}) {
      if (!wrong.empty()) return fail(wrong);
    }
    if (Find(node, kDuration) != nullptr) ++trace.durations;
    for (const uint64_t dependency : node.data_deps()) {
      program.dependency.push_back(static_cast<uint32_t>(dependency));
    }
    program.ops.push_back(op);
    program.dependency_begin.push_back(static_cast<uint32_t>(program.dependency.size()));
  }
  return trace;
}

}  // namespace drydock
