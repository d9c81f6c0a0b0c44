#include "workload-gen/sharded/shard_memory.h"

#include <algorithm>
#include <numeric>

#include "workload-gen/sharded/zero_hooks.h"

namespace drydock {
namespace {

const int64_t kFp32 = SizeOf(DataType::kFp32).count();

int64_t LargestOf(const std::vector<int64_t>& elements) {
  return elements.empty() ? 0 : *std::max_element(elements.begin(), elements.end());
}

}  // namespace

StateMemory FsdpStates(const TorchContext& context, const FsdpPlan& plan) {
  StateMemory states;
  if (plan.offload) return states;  // on the host
  int64_t share = 0;
  for (int chunk = 0; chunk < context.writer.layout.chunks; ++chunk) {
    for (const FsdpUnit& unit : MakeFsdpUnits(context, plan, chunk).units) share += unit.share();
  }
  states.parameters = share * kFp32;
  states.optimizer = 2 * share * kFp32;
  return states;
}

StateMemory ZeroStates(const TorchContext& context) {
  const ZeroRules& rules = context.writer.job.zero;
  const int64_t ranks = context.writer.layout.gradient_ranks();
  const int64_t type = SizeOf(context.writer.job.training.precision.type).count();
  const std::vector<int64_t> parameters = StageParameters(context);
  int64_t all = std::accumulate(parameters.begin(), parameters.end(), int64_t{0});
  int64_t share = (all + ranks - 1) / ranks;
  // Experts are shared by fewer ranks.
  const int64_t experts = StageExpertElements(context);
  all += experts;
  share += experts / context.writer.layout.expert_data();
  StateMemory states;
  states.parameters = (rules.stage == 3 ? share : all) * type;
  states.optimizer = 3 * share * kFp32;
  // One buffer has the gradients of a partition.
  if (rules.stage == 3) states.gradients = share * type;
  if (rules.offload_optimizer) {
    // On the host. The GPU has room for the largest gradient (temp_grad_buffer_for_gpu_offload).
    states.optimizer = states.gradients = 0;
    states.buffers += LargestOf(parameters) * type;
  }
  if (rules.stage < 3) return states;
  if (rules.offload_param) states.parameters = 0;
  // The bucket is whole, however few gradients there are.
  states.buffers += rules.reduce_bucket_size * type;
  if (ranks < 2 && !rules.offload_param) return states;
  for (const int64_t elements : parameters) {
    if (elements <= rules.param_persistence_threshold) states.gathered += elements * type;
  }
  return states;
}

}  // namespace drydock
