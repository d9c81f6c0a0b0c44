#include "workload-gen/sharded/shard_memory.h"

#include <algorithm>

#include "workload-gen/sharded/zero_fetch.h"
#include "workload-gen/sharded/zero_hooks.h"
#include "workload-gen/sharded/zero_trace.h"

namespace drydock {
namespace {

const int64_t kFp32 = SizeOf(DataType::kFp32).count();

// Returns the largest sum of `count` consecutive values.
int64_t LargestSum(const std::vector<int64_t>& elements, size_t count) {
  int64_t most = 0;
  for (size_t begin = 0; begin < elements.size(); ++begin) {
    int64_t sum = 0;
    for (size_t i = begin; i < std::min(begin + count, elements.size()); ++i) sum += elements[i];
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

StateMemory FsdpStates(const TorchContext& context, const FsdpPlan& plan) {
  const int64_t type = SizeOf(context.writer.job.training.precision.type).count();
  // Groups that are gathered only for their use, and the bytes of each.
  std::vector<int64_t> passing, passing_bytes;
  int64_t all = 0, staying = 0, staying_bytes = 0, share = 0;
  for (int chunk = 0; chunk < context.writer.layout.chunks; ++chunk) {
    for (const FsdpUnit& unit : MakeFsdpUnits(context, plan, chunk).units) {
      all += unit.elements;
      share += unit.share();
      if (unit.stays) {
        staying += unit.elements;
        staying_bytes += unit.bytes(type);
      } else if (unit.experts) {
        passing.back() += unit.elements;  // with the rest of their group
        passing_bytes.back() += unit.bytes(type);
      } else {
        passing.push_back(unit.elements);
        passing_bytes.push_back(unit.bytes(type));
      }
    }
  }
  const int64_t reduced = SizeOf(plan.reduce_type).count();
  StateMemory states;
  states.parameters = share * kFp32;
  states.gradients = share * kFp32;
  states.optimizer = 2 * share * kFp32;
  if (plan.offload) {
    // The states are on the host. The GPU buffers the shares of one group in use, of two groups in
    // flight, and of two gradients.
    states = {};
    const int64_t least = passing.empty() ? staying : 0;
    states.buffers =
        (LargestSum(passing, 3) + LargestSum(passing, 2) + 2 * least) / plan.shards * kFp32;
  }
  if (plan.shards < 2 && !plan.offload) return states;
  // One group is in use and two are in flight. The copies of version 2 add one flat buffer.
  states.gathered = staying_bytes + LargestSum(passing_bytes, 3);
  if (plan.version == 2) states.gathered += LargestSum(passing_bytes, 1);
  // Whole gradients: of several micro-batches, or of the current group; and the flat buffers of two
  // reductions.
  passing.push_back(staying > 0 && passing.empty() ? staying : 0);
  const bool accumulates = !plan.sync_every && context.writer.layout.microbatches > 1;
  states.buffers += accumulates ? all * reduced : LargestSum(passing, 1) * type;
  states.buffers += LargestSum(passing, 2) * reduced;
  return states;
}

StateMemory ZeroStates(const TorchContext& context) {
  const ZeroRules& rules = context.writer.job.zero;
  const int64_t ranks = context.writer.layout.gradient_ranks();
  const int64_t type = SizeOf(context.writer.job.training.precision.type).count();
  int64_t all = 0;
  for (const int64_t elements : StageParameters(context)) all += elements;
  int64_t share = (all + ranks - 1) / ranks;
  // Experts are shared by fewer ranks.
  const int64_t experts = StageExpertElements(context);
  all += experts;
  share += experts / context.writer.layout.expert_data();
  StateMemory states;
  states.parameters = (rules.stage == 3 ? share : all) * type;
  states.gradients = (rules.stage == 1 ? all : share) * type;
  states.optimizer = 4 * share * kFp32;
  if (rules.offload_optimizer) {
    // On the host. A bucket's part of the gradients stays until it is stored.
    states.optimizer = 0;
    states.gradients = rules.stage == 1 ? states.gradients : 0;
    states.buffers += std::min(rules.reduce_bucket_size, all) / ranks * (type + kFp32);
  }
  if (rules.offload_param) states.parameters = 0;
  const int64_t bucket = std::min(rules.reduce_bucket_size, all);
  states.buffers += bucket * type * (rules.overlap_comm || rules.stage == 3 ? 2 : 1);
  if (rules.stage < 3 || (ranks < 2 && !rules.offload_param)) return states;
  const ZeroTrace trace(context);
  states.gathered =
      PlanZeroFetches(trace.parameters, trace.steps, rules, static_cast<int>(ranks)).peak_live *
      type;
  return states;
}

}  // namespace drydock
