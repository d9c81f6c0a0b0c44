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

// What the caching allocator gets of a rank in two iterations: the model's weights, which make room
// for the buffers of parameters and gradients; the optimizer's copy; the first iteration; the two
// moments, which the first step makes; and the second iteration.
class Allocations {
 public:
  // `capacity`: of the GPU, for PyTorch's segments.
  Allocations(const StateMemory& state, Bytes capacity) : state_(state), allocator_(capacity) {
    HoldStates();
  }

  ActivationMemory FirstIteration(const Workload& workload, const Program& program,
                                  const ActivationRules& rules) {
    return WalkActivations(workload, program, rules, state_.held, &allocator_);
  }

  // Returns max_memory_reserved.
  Bytes StepAndSecondIteration(const Workload& workload, const Program& program,
                               const ActivationRules& rules) {
    HoldOptimizer(kMoments);
    if (state_.step > 0) allocator_.Free(allocator_.Allocate(state_.step));
    WalkActivations(workload, program, rules, state_.held, &allocator_);
    return allocator_.max_reserved();
  }

 private:
  // Tensors of the optimizer, of 4 bytes an element.
  static constexpr int kCopies = 1, kMoments = 2;

  void Hold(int64_t bytes) {
    if (bytes > 0) allocator_.Allocate(bytes);
  }

  void HoldStates() {
    std::vector<CachingAllocator::Address> weights;
    for (const int64_t bytes : state_.weights) weights.push_back(allocator_.Allocate(bytes));
    Hold(state_.parameters);
    Hold(state_.gradients);
    for (const CachingAllocator::Address weight : weights) allocator_.Free(weight);
    HoldOptimizer(kCopies);
    for (const int64_t bytes :
         {state_.gathered, state_.buffers, state_.fp8_weights, state_.libraries}) {
      Hold(bytes);
    }
  }

  // The parts leave out the padding of buckets; the rest is one tensor.
  void HoldOptimizer(int tensors) {
    int64_t left = state_.optimizer / (kCopies + kMoments) * tensors;
    for (const int64_t part : state_.parts) {
      for (int i = 0; i < tensors && left >= 4 * part; ++i, left -= 4 * part) Hold(4 * part);
    }
    Hold(left);
  }

  const StateMemory& state_;
  CachingAllocator allocator_;
};

}  // namespace

namespace {

// What the rank holds at each op, by the walk of its activations: the states all the time, and the
// tensors of the optimizer's step during the step.
std::vector<Bytes> AllocatedByOp(const StateMemory& state, const Program& program,
                                 const ActivationMemory& walked) {
  const int64_t states = state.parameters + state.gradients + state.optimizer + state.gathered +
                         state.buffers + state.fp8_weights + state.libraries;
  std::vector<Bytes> out;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const int64_t step = program.ops[i].phase == Phase::kOptimizer ? state.step : 0;
    out.emplace_back(states + std::max(walked.by_op[i], step));
  }
  return out;
}

}  // namespace

void FillMemory(const MemoryRules& rules, const ActivationRules& activations,
                const std::vector<StateMemory>& states, const MemoryDetail& detail,
                Workload* workload) {
  std::vector<std::vector<Bytes>> allocated_by_op;
  for (size_t c = 0; c < workload->programs.size(); ++c) {
    const Program& program = workload->programs[c];
    const StateMemory& state = states[c];
    // What PyTorch's allocator does not hold.
    std::vector<MemoryPart> beside = {
        {"nccl", rules.nccl_communicator * CommunicatorsOf(*workload, static_cast<int>(c))}};
    if (state.exchange > 0) beside.push_back({"deepep buffers", Bytes(state.exchange)});
    if (rules.cuda_graph_launch > Bytes()) {
      beside.push_back(
          {"cuda graphs", rules.cuda_graph_launch * LaunchesInGraphs(*workload, program)});
    }
    beside.push_back({"cuda context", rules.cuda_context});
    std::optional<Allocations> allocations;
    if (detail.reserved)
      allocations.emplace(state, SmallestGpu(workload->topology) - TotalOf(beside));
    ActivationMemory walked = allocations
                                  ? allocations->FirstIteration(*workload, program, activations)
                                  : WalkActivations(*workload, program, activations, state.held);
    if (c == 0 && detail.saved_by_layer != nullptr) *detail.saved_by_layer = walked.by_layer;
    allocated_by_op.push_back(AllocatedByOp(state, program, walked));
    walked.peak -= Bytes(activations.offloaded);
    // The step holds no activations.
    const Bytes working = std::max(walked.working, Bytes(state.step) - walked.peak);
    const auto held = [&](HeldKind kind) { return walked.held[static_cast<size_t>(kind)]; };
    std::vector<MemoryPart> parts = {
        {"parameters", Bytes(state.parameters)},
        {"gradients", Bytes(state.gradients + held(HeldKind::kGradients))},
        {"optimizer states", Bytes(state.optimizer)},
        {"gathered parameters", Bytes(state.gathered + held(HeldKind::kGathered))},
        {"gradient buffers", Bytes(state.buffers + held(HeldKind::kBuffers))},
        {"fp8 weights", Bytes(state.fp8_weights)},
        {"library buffers", Bytes(state.libraries)},
        {"activations", walked.peak},
        {"working tensors", working}};
    const Bytes allocated = TotalOf(parts);
    if (allocations) {
      const Bytes most = allocations->StepAndSecondIteration(*workload, program, activations) -
                         Bytes(activations.offloaded);
      workload->pytorch.push_back({allocated, std::max(allocated, most)});
    }
    const auto lost = std::llround(static_cast<double>(allocated.count()) * rules.fragmentation);
    parts.push_back({"fragmentation", Bytes(lost)});
    parts.insert(parts.end(), beside.begin(), beside.end());
    workload->memory.push_back(std::move(parts));
  }
  const std::optional<MemoryVerdict> verdict = JudgeMemory(*workload);
  if (detail.curve == nullptr || !verdict) return;
  detail.curve->class_index = verdict->class_index;
  detail.curve->allocated = std::move(allocated_by_op[static_cast<size_t>(verdict->class_index)]);
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
  std::string text = fmt::format("memory of the fullest ranks (class {}): {} ({})",
                                 verdict->class_index, ToString(*verdict), parts);
  if (workload.pytorch.empty()) return text;
  return text +
         "; PyTorch: " + ToString(workload.pytorch[static_cast<size_t>(verdict->class_index)]);
}

}  // namespace drydock
