#include "workload-gen/program/core_attention.h"

#include "workload-gen/program/ring_shift.h"

namespace drydock {

void CoreAttention::Exchange(CollectiveType type, int64_t count) {
  CommCall call;
  call.collective = type;
  call.type = c_.job.training.precision.type;
  call.count = count;
  call.group_size = c_.layout.context;
  c_.builder->Collective(kContextRole, kContextStream, call);
}

void CoreAttention::Forward(const CoreWork& core) {
  ProgramBuilder& b = *c_.builder;
  if (c_.layout.context == 1) return b.Compute(core.first.forward);
  const int64_t ranks = c_.layout.context;
  switch (c_.job.parallel.context_type) {
    case ContextType::kP2p:
      return RingForward(core);
    case ContextType::kAllToAll:
      for (const int64_t count : {core.queries, core.keys, core.values}) {
        Exchange(CollectiveType::kAllToAll, count);
      }
      b.Compute(core.first.forward);
      return Exchange(CollectiveType::kAllToAll, core.outputs);
    case ContextType::kAllGather:
      for (const int64_t count : {core.keys, core.values}) {
        Exchange(CollectiveType::kAllGather, count * ranks);
      }
      b.Compute(core.first.forward);
      return b.Compute(core.first.forward);
  }
}

void CoreAttention::Backward(const CoreWork& core) {
  ProgramBuilder& b = *c_.builder;
  if (c_.layout.context == 1) return b.Compute(core.first.backward);
  const int64_t ranks = c_.layout.context;
  switch (c_.job.parallel.context_type) {
    case ContextType::kP2p:
      return RingBackward(core);
    case ContextType::kAllToAll:
      Exchange(CollectiveType::kAllToAll, core.outputs);
      b.Compute(core.first.backward);
      for (const int64_t count : {core.queries, core.keys, core.values}) {
        Exchange(CollectiveType::kAllToAll, count);
      }
      return;
    case ContextType::kAllGather:
      for (const int64_t count : {core.keys, core.values}) {
        Exchange(CollectiveType::kAllGather, count * ranks);
      }
      b.Compute(core.first.backward);
      b.Compute(core.first.backward);
      for (const int64_t count : {core.keys, core.values}) {
        Exchange(CollectiveType::kReduceScatter, count * ranks);
      }
      return;
  }
}

ProgramBuilder::OpId CoreAttention::Shift(int64_t count, bool up) {
  return c_.builder->StartCollective(
      kContextRole, kContextStream,
      RingShift(c_.layout.context, c_.job.training.precision.type, count, up ? 1 : -1));
}

// The exchange of the next keys runs beside the compute of the present keys. The weight of each
// step's output is known after the last step.
void CoreAttention::RingForward(const CoreWork& core) {
  ProgramBuilder& b = *c_.builder;
  const int steps = c_.layout.context;
  ProgramBuilder::OpId arriving = ProgramBuilder::kNothing;
  for (int step = 0; step < steps; ++step) {
    b.Wait(arriving);
    if (step + 1 < steps) arriving = Shift(core.keys + core.values, /*up=*/true);
    b.Compute(step == 0 ? core.first.forward : core.other.forward);
  }
  for (int step = 0; step < steps; ++step) {
    b.Compute(step == 0 ? core.scale_output : core.merge_output);
  }
}

// Backward begins with the keys that arrived last. Each step computes gradients of all queries, as
// on the rank with the last queries, which sees all keys and is the slowest. The key gradients of a
// step follow the keys by one exchange, and each rank adds its own gradients to them.
void CoreAttention::RingBackward(const CoreWork& core) {
  ProgramBuilder& b = *c_.builder;
  const int steps = c_.layout.context;
  const int64_t one = core.keys + core.values;
  ProgramBuilder::OpId arriving = ProgramBuilder::kNothing;
  for (int step = 0; step < steps; ++step) {
    b.Wait(arriving);
    if (step > 1) b.Compute(core.merge_gradient);
    const bool last = step == steps - 1;
    arriving = Shift(step == 0 || last ? one : 2 * one, /*up=*/false);
    b.Compute(last ? core.first.backward : core.other.backward);
    b.Compute(step == 0 ? core.copy_queries : core.merge_queries);
  }
  b.Wait(arriving);
  b.Compute(core.merge_gradient);
}

}  // namespace drydock
