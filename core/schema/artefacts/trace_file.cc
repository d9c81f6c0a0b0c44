#include "core/schema/artefacts/trace_file.h"

#include <fmt/format.h>

#include "core/schema/artefacts/trace_codec.h"

namespace drydock {

using trace_codec::chakra::GlobalMetadata;
using trace_codec::chakra::Node;

std::string OpName(const Workload& workload, const Op& op) {
  std::string name;
  if (op.kind == OpKind::kCompute) {
    name = workload.blocks[op.work].name;
  } else if (UsesMemory(op.kind)) {
    name = workload.transfers[op.work].name;
    if (op.kind == OpKind::kLoad) name += ".load";
    if (op.kind == OpKind::kStore) name += ".store";
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
  return trace_codec::Encode(workload, program, -1, [](const Op&, Node*) {});
}

Result<Program> DecodeTrace(const std::string& content, const Workload& workload,
                            const std::string& path) {
  if (content.size() > INT32_MAX) return Error("the trace is larger than 2 GB", {path, 0, 0});
  const google::protobuf::LogSilencer quiet;  // the Error has the reason
  trace_codec::Reader reader(content);
  const auto damaged = [&path](size_t node) {
    return Error(fmt::format("damaged: node {} cannot be read", node), {path, 0, 0});
  };
  GlobalMetadata metadata;
  if (!reader.Read(&metadata)) return damaged(0);
  Program program;
  program.dependency_begin.push_back(0);
  Node node;
  while (!reader.AtEnd()) {
    const size_t index = program.ops.size();
    Op op;
    if (!reader.Read(&node) || node.id() != index || !trace_codec::ReadOp(node, &op) ||
        !trace_codec::InTables(workload, op)) {
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
