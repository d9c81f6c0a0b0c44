#include "workload-gen/program/core_attention.h"

#include "workload-gen/program/ring_shift.h"

namespace drydock {

void CoreAttention::Exchange(CollectiveType collective, int64_t count, DataType type) {
  CommCall call;
  call.collective = collective;
  call.type = type;
  call.count = count;
  call.group_size = c_.layout.context;
  c_.builder->Collective(kContextRole, kContextStream, call);
}

void CoreAttention::ExchangeHeads(std::initializer_list<int64_t> counts, DataType type) {
  if (c_.layout.context_heads == 1) return;
  for (const int64_t count : counts) {
    CommCall call;
    call.collective = CollectiveType::kAllToAll;
    call.type = type;
    call.count = count;
    call.group_size = c_.layout.context_heads;
    c_.builder->Collective(kContextHeadsRole, kContextStream, call);
  }
}

// Heads are exchanged in 16 bits, but their gradients in fp8: AttnFuncWithCPAndKVP2P casts after
// the exchange forward, and quantizes the gradient of the output before the exchange backward.
void CoreAttention::Forward(const CoreWork& core) {
  const DataType wide = c_.job.training.precision.type;
  ProgramBuilder& b = *c_.builder;
  ExchangeHeads({core.queries, core.keys, core.values}, wide);
  if (core.fp8) {
    for (const auto& cast : {core.fp8->queries, core.fp8->keys, core.fp8->values}) {
      b.Compute(cast.forward);
    }
  }
  Steps(core);
  ExchangeHeads({core.outputs}, wide);
  if (core.fp8) b.Compute(core.fp8->outputs.forward);
}

void CoreAttention::Backward(const CoreWork& core) {
  ProgramBuilder& b = *c_.builder;
  if (core.fp8) b.Compute(core.fp8->outputs.backward);
  ExchangeHeads({core.outputs}, core.type);
  BackwardSteps(core);
  if (core.fp8) {
    for (const auto& cast : {core.fp8->queries, core.fp8->keys, core.fp8->values}) {
      b.Compute(cast.backward);
    }
  }
  ExchangeHeads({core.queries, core.keys, core.values}, c_.job.training.precision.type);
}

void CoreAttention::Steps(const CoreWork& core) {
  ProgramBuilder& b = *c_.builder;
  if (c_.layout.context == 1) return b.Compute(core.first.forward);
  if (core.torch) return TorchForward(core);
  const int64_t ranks = c_.layout.context;
  switch (c_.job.parallel.context_type) {
    case ContextType::kP2p:
    case ContextType::kHeadsAndRing:
      return RingForward(core);
    case ContextType::kAllToAll:
      for (const int64_t count : {core.queries, core.keys, core.values}) {
        Exchange(CollectiveType::kAllToAll, count, core.type);
      }
      b.Compute(core.first.forward);
      return Exchange(CollectiveType::kAllToAll, core.outputs, core.type);
    case ContextType::kAllGather:
      for (const int64_t count : {core.keys, core.values}) {
        Exchange(CollectiveType::kAllGather, count * ranks, core.type);
      }
      b.Compute(core.first.forward);
      return b.Compute(core.first.forward);
  }
}

void CoreAttention::BackwardSteps(const CoreWork& core) {
  ProgramBuilder& b = *c_.builder;
  if (c_.layout.context == 1) return b.Compute(core.first.backward);
  if (core.torch) return TorchBackward(core);
  const int64_t ranks = c_.layout.context;
  switch (c_.job.parallel.context_type) {
    case ContextType::kP2p:
    case ContextType::kHeadsAndRing:
      return RingBackward(core);
    case ContextType::kAllToAll:
      Exchange(CollectiveType::kAllToAll, core.outputs, core.type);
      b.Compute(core.first.backward);
      for (const int64_t count : {core.queries, core.keys, core.values}) {
        Exchange(CollectiveType::kAllToAll, count, core.type);
      }
      return;
    case ContextType::kAllGather:
      for (const int64_t count : {core.keys, core.values}) {
        Exchange(CollectiveType::kAllGather, count * ranks, core.type);
      }
      b.Compute(core.first.backward);
      b.Compute(core.first.backward);
      for (const int64_t count : {core.keys, core.values}) {
        Exchange(CollectiveType::kReduceScatter, count * ranks, core.type);
      }
      return;
  }
}

ProgramBuilder::OpId CoreAttention::Shift(int64_t count, bool up, DataType type) {
  return c_.builder->StartCollective(c_.layout.context_heads > 1 ? kContextRingRole : kContextRole,
                                     kContextStream,
                                     RingShift(c_.layout.context_ring(), type, count, up ? 1 : -1));
}

// The exchange of the next keys runs beside the compute of the present keys. The weight of each
// step's output is known after the last step.
void CoreAttention::RingForward(const CoreWork& core) {
  ProgramBuilder& b = *c_.builder;
  const int steps = c_.layout.context_ring();
  ProgramBuilder::OpId arriving = ProgramBuilder::kNothing;
  for (int step = 0; step < steps; ++step) {
    b.Wait(arriving);
    if (step + 1 < steps) arriving = Shift(core.keys + core.values, /*up=*/true, core.type);
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
  const int steps = c_.layout.context_ring();
  const int64_t one = core.keys + core.values;
  ProgramBuilder::OpId arriving = ProgramBuilder::kNothing;
  for (int step = 0; step < steps; ++step) {
    b.Wait(arriving);
    if (step > 1) b.Compute(core.merge_gradient);
    const bool last = step == steps - 1;
    arriving = Shift(step == 0 || last ? one : 2 * one, /*up=*/false, core.type);
    b.Compute(last ? core.first.backward : core.other.backward);
    b.Compute(step == 0 ? core.copy_queries : core.merge_queries);
  }
  b.Wait(arriving);
  b.Compute(core.merge_gradient);
}

// Every step except the last packs keys and values. After the all-gather nothing uses the packed
// copies of later steps: eager mode makes them, a compiler drops them.
ProgramBuilder::OpId CoreAttention::TorchExchange(const CoreWork& core, int step) {
  if (step + 1 == c_.layout.context) return ProgramBuilder::kNothing;
  const bool gathers = c_.job.parallel.context_type != ContextType::kP2p;
  if (gathers && step > 0 && c_.job.training.kernels.fused) return ProgramBuilder::kNothing;
  c_.builder->Compute(core.torch->pack);
  const int64_t count = core.keys + core.values;
  if (!gathers) return InFlight(Shift(count, /*up=*/true, core.type));
  if (step > 0) return ProgramBuilder::kNothing;
  CommCall all;
  all.collective = CollectiveType::kAllGather;
  all.type = core.type;
  all.count = count * c_.layout.context;
  all.group_size = c_.layout.context;
  return InFlight(c_.builder->StartCollective(kContextRole, kContextStream, all));
}

// Functional collectives wait where they begin while a compiler traces them, and Inductor moves
// neither (_maybe_wrap_tensor in torch/distributed/_functional_collectives.py;
// reorder_for_compute_comm_overlap in torch/_inductor/config.py). Eager mode waits at the first
// use.
ProgramBuilder::OpId CoreAttention::InFlight(ProgramBuilder::OpId exchange) {
  if (!c_.job.training.kernels.fused) return exchange;
  c_.builder->Wait(exchange);
  return ProgramBuilder::kNothing;
}

void CoreAttention::TorchForward(const CoreWork& core) {
  ProgramBuilder& b = *c_.builder;
  const TorchRingWork& ring = *core.torch;
  ProgramBuilder::OpId arriving = ProgramBuilder::kNothing;
  if (ring.repeat) b.Compute(ring.repeat->forward);
  for (int step = 0; step < c_.layout.context; ++step) {
    b.Wait(arriving);
    arriving = TorchExchange(core, step);
    b.Compute(step == 0 ? core.first.forward : core.other.forward);
    b.Compute(step == 0 ? ring.first_output : ring.merge_output);
  }
  b.Compute(ring.last_output);
}

// The gradients of the keys that a step has used follow them to the next rank.
void CoreAttention::TorchBackward(const CoreWork& core) {
  ProgramBuilder& b = *c_.builder;
  const TorchRingWork& ring = *core.torch;
  ProgramBuilder::OpId arriving = ProgramBuilder::kNothing, gradients = ProgramBuilder::kNothing;
  for (int step = 0; step < c_.layout.context; ++step) {
    b.Wait(arriving);
    arriving = TorchExchange(core, step);
    b.Compute(step == 0 ? core.first.backward : core.other.backward);
    b.Wait(gradients);
    b.Compute(ring.merge_keys);
    gradients = InFlight(Shift(core.keys + core.values, /*up=*/true, DataType::kFp32));
    b.Compute(ring.merge_queries);
  }
  b.Wait(gradients);
  b.Compute(ring.last_gradients);
  if (ring.repeat) b.Compute(ring.repeat->backward);
}

}  // namespace drydock
