#include "workload-gen/memory/rank_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "core/base/check.h"
#include "core/model/memory_total.h"

namespace drydock {
namespace {

// Returns the number of distinct communicators of the first rank of the class.
int64_t CommunicatorsOf(const Workload& workload, int class_index) {
  const auto place =
      std::find(workload.class_of_rank.begin(), workload.class_of_rank.end(), class_index);
  CHECK(place != workload.class_of_rank.end());
  const auto rank = static_cast<size_t>(place - workload.class_of_rank.begin());
  std::set<int> groups;
  for (const std::vector<int>& of_role : workload.group_of_rank) groups.insert(of_role[rank]);
  groups.erase(-1);
  return static_cast<int64_t>(groups.size());
}

// Returns the number of kernels and collectives that the graphs of a program hold. Without a
// pipeline, all micro-batches replay the graphs of the first one; a graph of the whole iteration
// holds all of them.
int64_t LaunchesInGraphs(const Workload& workload, const Program& program) {
  int64_t first = 0, all = 0, graphs = 0;
  bool pipeline = false;
  for (const Op& op : program.ops) {
    pipeline = pipeline || op.kind == OpKind::kSend || op.kind == OpKind::kRecv;
    if (op.graph != GraphPart::kFirst && op.graph != GraphPart::kRest) continue;
    const bool compute = op.kind == OpKind::kCompute;
    const auto launches =
        compute ? static_cast<int64_t>(workload.blocks[op.work].submodules.size()) : 1;
    graphs += op.graph == GraphPart::kFirst ? 1 : 0;
    all += launches;
    if (op.microbatch == 0) first += launches;
  }
  return pipeline || graphs == 1 ? all : first;
}

}  // namespace

void FillMemory(const MemoryRules& rules, const ActivationRules& activations,
                const std::vector<StateMemory>& states, Workload* workload) {
  for (size_t c = 0; c < workload->programs.size(); ++c) {
    ActivationMemory walked = WalkActivations(*workload, workload->programs[c], activations);
    walked.peak -= Bytes(activations.offloaded);
    const StateMemory& state = states[c];
    // The step holds no activations.
    const Bytes working = std::max(walked.working, Bytes(state.step) - walked.peak);
    std::vector<MemoryPart> parts = {{"parameters", Bytes(state.parameters)},
                                     {"gradients", Bytes(state.gradients)},
                                     {"optimizer states", Bytes(state.optimizer)},
                                     {"gathered parameters", Bytes(state.gathered)},
                                     {"gradient buffers", Bytes(state.buffers)},
                                     {"fp8 weights", Bytes(state.fp8_weights)},
                                     {"library buffers", Bytes(state.libraries)},
                                     {"activations", walked.peak},
                                     {"working tensors", working}};
    const auto lost =
        std::llround(static_cast<double>(TotalOf(parts).count()) * rules.fragmentation);
    parts.push_back({"fragmentation", Bytes(lost)});
    parts.push_back({"nccl", Bytes(CommunicatorsOf(*workload, static_cast<int>(c)) *
                                   rules.nccl_communicator.count())});
    if (state.exchange > 0) parts.push_back({"deepep buffers", Bytes(state.exchange)});
    if (rules.cuda_graph_launch > Bytes()) {
      parts.push_back({"cuda graphs", rules.cuda_graph_launch *
                                          LaunchesInGraphs(*workload, workload->programs[c])});
    }
    parts.push_back({"cuda context", rules.cuda_context});
    workload->memory.push_back(std::move(parts));
  }
}

std::string MemoryText(const Workload& workload) {
  const std::optional<MemoryVerdict> verdict = JudgeMemory(workload);
  if (!verdict) return "";
  std::string parts;
  for (const MemoryPart& part : workload.memory[static_cast<size_t>(verdict->class_index)]) {
    if (part.bytes == Bytes()) continue;
    parts += fmt::format("{}{} {:.2f}", parts.empty() ? "" : ", ", part.name,
                         static_cast<double>(part.bytes.count()) / 1e9);
  }
  return fmt::format("memory of the fullest ranks (class {}): {} ({})", verdict->class_index,
                     ToString(*verdict), parts);
}

}  // namespace drydock
