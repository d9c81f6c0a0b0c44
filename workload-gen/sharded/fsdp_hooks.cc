#include "workload-gen/sharded/fsdp_hooks.h"

#include <algorithm>
#include <utility>

namespace drydock {

FsdpPlan MakeFsdpPlan(const TrainingJob& job, const ParallelLayout& layout) {
  const FsdpRules& rules = job.fsdp;
  const bool pipelined = layout.pipeline > 1;
  FsdpPlan plan;
  plan.version = rules.version;
  plan.replicas = rules.replicas;
  plan.shards = layout.gradient_ranks() / rules.replicas;
  plan.reshard = rules.reshard_after_forward == ReshardAfterForward::kDefault
                     ? !pipelined
                     : rules.reshard_after_forward == ReshardAfterForward::kAlways;
  plan.reshard_last = rules.reshard_after_forward == ReshardAfterForward::kAlways;
  plan.sync_every = rules.gradient_sync == GradientSync::kDefault
                        ? !pipelined
                        : rules.gradient_sync == GradientSync::kEveryMicrobatch;
  plan.sync_after_all = pipelined && !plan.sync_every;
  plan.backward_prefetch = rules.backward_prefetch;
  plan.limit_all_gathers = rules.limit_all_gathers;
  plan.reduce_type = rules.reduce_type;
  plan.offload = rules.offload;
  return plan;
}

namespace {
const int64_t kFp32Bytes = SizeOf(DataType::kFp32).count();
}  // namespace

FsdpUnits MakeFsdpUnits(const TorchContext& context, const FsdpPlan& plan, int chunk) {
  FsdpUnits made;
  const std::vector<int> groups = context.GroupsOf(chunk);
  // The root unit: in version 1, and where the head shares the embedding's weight.
  const bool together = plan.version == 1 || context.writer.job.model.embedding.tied;
  size_t root = SIZE_MAX;
  for (size_t i = 0; i < groups.size(); ++i) {
    const TorchGroup& group = context.Group(groups[i]);
    const bool outside = groups[i] < 0 || groups[i] == context.layers();
    if (together && outside && root != SIZE_MAX) {
      made.units[root].elements += group.elements();
      made.of_group.push_back({root});
      continue;
    }
    if (outside && together) root = made.units.size();
    const bool last = groups[i] == context.layers() && !plan.reshard_last;
    const bool stays = !plan.reshard || last || (outside && together);
    made.of_group.push_back({made.units.size()});
    made.units.push_back({group.elements(), stays, groups[i], plan.shards, false,
                          context.writer.job.fsdp.fp8_all_gather ? group.fp8_elements() : 0});
    if (group.expert_elements() == 0) continue;
    made.of_group.back().push_back(made.units.size());
    made.units.push_back(
        {group.expert_elements(), stays, groups[i], context.writer.layout.expert_data(), true, 0});
  }
  for (FsdpUnit& unit : made.units) {
    unit.elements = (unit.elements + unit.shards - 1) / unit.shards * unit.shards;
  }
  return made;
}

FsdpHooks::FsdpHooks(const TorchContext& context, const FsdpPlan& plan)
    : t_(context), c_(context.writer), b_(*c_.builder), plan_(plan), offload_(c_), held_(b_) {
  for (int chunk = 0; chunk < c_.layout.chunks; ++chunk) {
    Chunk made;
    made.units = MakeFsdpUnits(context, plan, chunk);
    made.states.resize(made.units.units.size());
    for (const FsdpUnit& unit : made.units.units) share_ += unit.share();
    chunks_.push_back(std::move(made));
  }
}

const std::vector<size_t>& FsdpHooks::UnitsAt(const GroupPass& pass, int ahead) const {
  static const std::vector<size_t> none;
  const std::vector<int> groups = t_.GroupsOf(pass.chunk);
  const auto here = std::find(groups.begin(), groups.end(), pass.group) - groups.begin();
  const auto place = here + ahead;
  if (place < 0 || place >= static_cast<std::ptrdiff_t>(groups.size())) return none;
  return chunks_[static_cast<size_t>(pass.chunk)].units.of_group[static_cast<size_t>(place)];
}

bool FsdpHooks::IsLast(const GroupPass& pass) const {
  return pass.microbatch == c_.layout.microbatches - 1;
}

bool FsdpHooks::Syncs(const GroupPass& pass) const { return plan_.sync_every || IsLast(pass); }

void FsdpHooks::Start(Chunk* chunk, const std::vector<size_t>& units) {
  for (const size_t unit : units) Start(chunk, unit);
}

void FsdpHooks::Start(Chunk* chunk, size_t unit) {
  const FsdpUnit& what = chunk->units.units[unit];
  State& state = chunk->states[unit];
  if (!NeedsGather(what) || state.gathered || state.gather != ProgramBuilder::kNothing) return;
  // In forward, the host issues nothing ahead; streams are behind it.
  if (copies() && b_.phase() != Phase::kForward) {
    held_.Hold(&state.flat, HeldKind::kGathered, BytesOf(what));
  }
  if (plan_.offload) state.gather = offload_.Load("fsdp.parameters", what.share() * kFp32Bytes);
  // Casts the share into the flat buffer. PyTorch uses a stream beside the compute stream; the
  // bytes use the same memory.
  b_.Compute(StepWork("fsdp.copy-in", submodule::Cast{{what.share()}},
                      c_.job.training.precision.type, c_.tables));
  CommCall call;
  call.collective = CollectiveType::kAllGather;
  call.type = c_.job.training.precision.type;
  call.count = what.elements;
  call.group_size = what.shards;
  if (what.shards < 2) return;
  if (what.fp8_elements > 0) {  // parameters of both types travel as bytes
    call.type = DataType::kUint8;
    call.count = (BytesOf(what) + what.shards - 1) / what.shards * what.shards;
  }
  state.gather =
      b_.StartCollective(what.experts ? kExpertDataRole : t_.roles.shard,
                         what.experts ? kExpertDataStream : kDataStream, call, state.gather);
}

void FsdpHooks::CopyOut(const FsdpUnit& unit) {
  if (plan_.version == 1) return;
  const DataType type = c_.job.training.precision.type;
  b_.Compute(StepWork("fsdp.copy-out",
                      submodule::GradientScale{{BytesOf(unit) / SizeOf(type).count()}}, type,
                      c_.tables));
}

int64_t FsdpHooks::BytesOf(const FsdpUnit& unit) const {
  return unit.bytes(SizeOf(c_.job.training.precision.type).count());
}

void FsdpHooks::Use(Chunk* chunk, size_t unit) {
  Start(chunk, unit);
  State& state = chunk->states[unit];
  if (state.gather == ProgramBuilder::kNothing) return;
  b_.Wait(state.gather);
  state.gather = ProgramBuilder::kNothing;
  state.gathered = true;
  HoldWhole(chunk->units.units[unit], &state);
  CopyOut(chunk->units.units[unit]);
}

// wait_for_unshard of _fsdp_param_group.py: in forward, the buffer of an all-gather stays until the
// next one has been waited for; in backward, until its parameters are copied out of it.
void FsdpHooks::HoldWhole(const FsdpUnit& unit, State* state) {
  const bool forward = b_.phase() == Phase::kForward;
  if (copies() && forward) {
    held_.Hold(&state->flat, HeldKind::kGathered, BytesOf(unit));
    held_.Free(&last_flat_);
  }
  held_.Hold(&state->whole, HeldKind::kGathered, BytesOf(unit));
  if (forward) {
    last_flat_ = std::exchange(state->flat, {});
  } else {
    held_.Free(&state->flat);
  }
}

void FsdpHooks::BeforeForward(const GroupPass& pass) {
  Chunk* chunk = &chunks_[static_cast<size_t>(pass.chunk)];
  Start(chunk, UnitsAt(pass, 0));
  Start(chunk, UnitsAt(pass, 1));
  if (plan_.version == 1 && !plan_.limit_all_gathers) StartAll(pass);
  for (const size_t unit : UnitsAt(pass, 0)) Use(chunk, unit);
  if (plan_.version == 2) Start(chunk, UnitsAt(pass, 2));
}

// Only the speed of the host limits the all-gathers.
void FsdpHooks::StartAll(const GroupPass& pass) {
  Chunk* chunk = &chunks_[static_cast<size_t>(pass.chunk)];
  for (int ahead = 2; HasGroup(pass, ahead); ++ahead) Start(chunk, UnitsAt(pass, ahead));
}

void FsdpHooks::AfterForward(const GroupPass& pass) {
  Chunk& chunk = chunks_[static_cast<size_t>(pass.chunk)];
  for (const size_t unit : UnitsAt(pass, 0)) {
    if (chunk.units.units[unit].stays) continue;
    chunk.states[unit].gathered = false;
    held_.Free(&chunk.states[unit].whole);
  }
}

void FsdpHooks::BeforeBackward(const GroupPass& pass) {
  Chunk* chunk = &chunks_[static_cast<size_t>(pass.chunk)];
  for (const size_t unit : UnitsAt(pass, 0)) Use(chunk, unit);
  if (plan_.backward_prefetch) Start(chunk, UnitsAt(pass, -1));
}

// The gradients of a module's parameters.
void FsdpHooks::BeforeModule(const GroupPass& pass, ModulePass part, size_t module) {
  if (part != ModulePass::kBackward) return;
  const TorchModule& m = t_.Group(pass.group).modules[module];
  const int64_t type = SizeOf(c_.job.training.precision.type).count();
  Chunk& chunk = chunks_[static_cast<size_t>(pass.chunk)];
  for (const size_t unit : UnitsAt(pass, 0)) {
    const bool experts = chunk.units.units[unit].experts;
    chunk.states[unit].gradients.push_back(
        held_.Hold(HeldKind::kBuffers, (experts ? m.expert_elements() : m.elements()) * type));
  }
}

// _post_forward and _root_post_backward_final_callback of _fsdp_state.py.
void FsdpHooks::AfterWork(const StageWork& work) {
  if (!work.backward) return held_.Free(&last_flat_);
  held_.Free(&reduced_);
  held_.Free(&all_reduced_);
}

// In a group, experts are the last in forward and the first in backward.
void FsdpHooks::AfterBackward(const GroupPass& pass) {
  const std::vector<size_t>& units = UnitsAt(pass, 0);
  for (size_t i = units.size(); i-- > 0;) ReduceUnit(pass, units[i]);
}

void FsdpHooks::ReduceUnit(const GroupPass& pass, size_t index) {
  Chunk& chunk = chunks_[static_cast<size_t>(pass.chunk)];
  const FsdpUnit& unit = chunk.units.units[index];
  if (unit.first != pass.group) return;
  const bool reduces = Syncs(pass) && !plan_.sync_after_all;
  const Phase phase = b_.phase();
  if (reduces && !accumulates()) SumUnit(pass.chunk, index);
  b_.SetPhase(Phase::kGradientSync);
  State& state = chunk.states[index];
  // Without resharding, only the backward of the last micro-batch frees the parameters.
  if (plan_.reshard || Syncs(pass)) {
    state.gathered = false;
    held_.Free(&state.whole);
  }
  if (accumulates()) {
    Accumulate(unit, &state, pass.microbatch == 0);
    if (reduces) SumUnit(pass.chunk, index);
  }
  reduced_microbatches_ = plan_.sync_every ? pass.microbatch : 0;
  if (reduces) Reduce(unit, &state);
  b_.SetPhase(phase);
}

// FSDP2 sums a unit's partial gradients over tensor ranks when it collects the gradients to reduce
// them: once for all micro-batches that it accumulates, in the type of their sum
// (unsharded_grad_data and unsharded_accumulated_grad_data of _fsdp_param.py).
void FsdpHooks::SumUnit(int chunk, size_t unit) {
  if (plan_.version == 1) return;
  const DataType type = accumulates() ? plan_.reduce_type : c_.job.training.precision.type;
  const std::vector<int> groups = t_.GroupsOf(chunk);
  const std::vector<std::vector<size_t>>& units =
      chunks_[static_cast<size_t>(chunk)].units.of_group;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (units[i].front() != unit) continue;
    for (const TorchModule& module : t_.Group(groups[i]).modules) SumParts(c_, module, type);
  }
}

// The sum over micro-batches has the data type of the reduction.
void FsdpHooks::Accumulate(const FsdpUnit& unit, State* state, bool first) {
  held_.Hold(&state->sum, HeldKind::kBuffers, unit.elements * SizeOf(plan_.reduce_type).count());
  held_.Free(&state->gradients);
  if (first) {
    b_.Compute(StepWork("fsdp.accumulate", submodule::Cast{{unit.elements}},
                        c_.job.training.precision.type, c_.tables));
    return;
  }
  b_.Compute(AccumulationWork("fsdp.accumulate", c_.job.training.precision.type,
                              plan_.reduce_type == DataType::kFp32, unit.elements, c_.tables));
}

void FsdpHooks::Reduce(const FsdpUnit& unit, State* state) {
  const bool alone = unit.shards * plan_.replicas < 2;
  HoldReduced(unit, state);
  const OpId end = alone ? ProgramBuilder::kNothing : ReduceOverRanks(unit);
  if (plan_.offload) return StoreGradient(unit, end);
  if (end != ProgramBuilder::kNothing) reductions_.push_back(end);
}

// foreach_reduce of _fsdp_collectives.py. The share of a first reduction stays as the gradient; a
// later one is added to it. Version 1 keeps no input for the next reduction.
void FsdpHooks::HoldReduced(const FsdpUnit& unit, State* state) {
  held_.Free(&reduced_);
  reduced_ = held_.Hold(HeldKind::kBuffers, unit.elements * SizeOf(plan_.reduce_type).count());
  held_.Free(&state->gradients);
  held_.Free(&state->sum);
  if (!copies()) held_.Free(&reduced_);
  const int64_t share = unit.share() * kFp32Bytes;
  if (plan_.offload) return held_.Touch(HeldKind::kBuffers, share);
  if (!state->share.held()) {
    state->share = held_.Hold(HeldKind::kGradients, share);
  } else if (plan_.replicas > 1) {
    all_reduced_.push_back(held_.Hold(HeldKind::kBuffers, share));
  } else {
    held_.Touch(HeldKind::kBuffers, share);
  }
}

// The host waits for a gradient before it adds it to an earlier one.
void FsdpHooks::StoreGradient(const FsdpUnit& unit, OpId reduction) {
  const int64_t share = unit.share();
  const OpId stored = offload_.Store("fsdp.gradients", share * kFp32Bytes, reduction);
  reductions_.push_back(stored);
  if (reduced_microbatches_ == 0) return;
  offload_.Work("fsdp.accumulate", share * kHostAddBytes, stored);
}

FsdpHooks::OpId FsdpHooks::ReduceOverRanks(const FsdpUnit& unit) {
  b_.Wait(scatter_);
  // Orders gradients by shard, in the data type of the reduction.
  b_.Compute(StepWork("fsdp.reduce-copy-in", submodule::Cast{{unit.elements}},
                      c_.job.training.precision.type, c_.tables));
  CommCall call;
  call.collective = CollectiveType::kReduceScatter;
  call.type = plan_.reduce_type;
  call.op = ReduceOp::kAverage;
  call.count = unit.elements;
  call.group_size = unit.shards;
  scatter_ = b_.StartCollective(unit.experts ? kExpertDataRole : t_.roles.shard,
                                unit.experts ? kExpertDataStream : kDataStream, call);
  OpId end = scatter_;
  if (plan_.replicas > 1) {
    call.collective = CollectiveType::kAllReduce;
    call.count = unit.share();
    call.group_size = plan_.replicas;
    end = b_.StartCollective(t_.roles.replica, kReplicaStream, call, scatter_);
  }
  // Version 1 does not wait for the previous reduction.
  if (plan_.version == 1) scatter_ = ProgramBuilder::kNothing;
  return end;
}

void FsdpHooks::Finish() {
  if (plan_.sync_after_all) {
    for (size_t c = 0; c < chunks_.size(); ++c) {
      for (size_t i = 0; i < chunks_[c].states.size(); ++i) {
        SumUnit(static_cast<int>(c), i);
        Reduce(chunks_[c].units.units[i], &chunks_[c].states[i]);
      }
    }
    held_.Free(&reduced_);
  }
  for (const OpId op : reductions_) b_.Wait(op);
  Optimize();
}

void FsdpHooks::Optimize() {
  ShardStep step(c_);
  b_.SetPhase(Phase::kOptimizer);
  if (plan_.offload) return OptimizeOnHost(&step);
  if (c_.job.training.optimizer.gradient_clipping) {
    step.Compute("optimizer.norm", submodule::GradientNorm{{share_}}, DataType::kFp32);
    step.AllReduceOverModel(t_.roles.shard, kDataStream, plan_.shards, DataType::kFp32,
                            ReduceOp::kSum);
    step.Compute("optimizer.clip", submodule::GradientScale{{share_}}, DataType::kFp32);
  }
  step.Compute("optimizer.adam", submodule::Optimizer{{share_}}, DataType::kFp32);
  ScaleWeights();
  b_.SetPhase(Phase::kOther);
  step.Loss();
}

// precompute_float8_dynamic_scale_for_fsdp of torchao: the largest values of all weights that are
// gathered in fp8 are reduced together.
void FsdpHooks::ScaleWeights() {
  int64_t share = 0, weights = 0;
  for (const Chunk& chunk : chunks_) {
    for (const FsdpUnit& unit : chunk.units.units) {
      share += unit.fp8_elements / unit.shards;
      if (unit.fp8_elements > 0) weights += t_.Group(unit.first).fp8_weights();
    }
  }
  if (weights == 0) return;
  b_.Compute(
      StepWork("fsdp.fp8-scales", submodule::GradientNorm{{share}}, DataType::kFp32, c_.tables));
  CommCall largest;
  largest.type = DataType::kFp32;
  largest.op = ReduceOp::kMax;
  largest.count = weights;
  largest.group_size = plan_.shards;
  b_.Collective(t_.roles.shard, kDataStream, largest);
  largest.group_size = c_.layout.tensor;
  b_.Collective(kTensorRole, kTensorStream, largest);
}

// The model sums the norm over the ranks with NCCL; PyTorch uses Gloo for offloaded states.
void FsdpHooks::OptimizeOnHost(ShardStep* step) {
  if (c_.job.training.optimizer.gradient_clipping) {
    offload_.Step("optimizer.norm", share_ * kHostNormBytes);
    step->AllReduceOverModel(t_.roles.shard, kDataStream, plan_.shards, DataType::kFp32,
                             ReduceOp::kSum);
    offload_.Step("optimizer.clip", share_ * kHostScaleBytes);
  }
  offload_.Step("optimizer.adam", share_ * kHostAdamBytes);
  b_.SetPhase(Phase::kOther);
  step->Loss();
}

}  // namespace drydock
