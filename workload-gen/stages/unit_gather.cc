#include "workload-gen/stages/unit_gather.h"

#include <algorithm>

#include "workload-gen/stages/fsdp_units.h"

namespace drydock {

UnitGather::UnitGather(const WriterContext& context, const std::vector<ChunkBuckets>* chunks)
    : c_(context) {
  const MegatronFsdpRules& rules = c_.job.megatron_fsdp;
  if (!rules.any() || rules.sharding == ParameterSharding::kNoShard) return;
  chunk_ = &chunks->front();
  const PrecisionRules& precision = c_.job.training.precision;
  two_sides_ = precision.quantized_gather && (precision.products() == DataType::kMxfp8 ||
                                              precision.products() == DataType::kNvfp4);
  for (std::vector<State>& side : states_) side.resize(chunk_->buckets.size());
  renewed_.resize(chunk_->buckets.size());
}

// The first hook runs at the end of the step before, without waiting.
void UnitGather::Begin() {
  if (chunk_ == nullptr) return;
  if (c_.job.megatron_fsdp.shards_parameters() || c_.job.overlap.param_gather) {
    const std::vector<size_t> wanted = BucketsOf(ParameterGather::kEmbedding);
    return Start(GatherWindow(chunk_->buckets, wanted, true, c_.job.megatron_fsdp), Side::kForward);
  }
  std::vector<size_t> all(chunk_->buckets.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  Start(all, Side::kForward);
  WaitFor(all, Side::kForward);
}

void UnitGather::BeforeForward(int layer) { Gather(layer, Side::kForward, true); }

void UnitGather::BeforeRepeated(int layer) { Gather(layer, Side::kForward, false); }

void UnitGather::BeginBackward() {
  if (chunk_ == nullptr || !c_.job.megatron_fsdp.shards_parameters()) return;
  for (size_t bucket = 0; bucket < chunk_->buckets.size(); ++bucket) {
    if (chunk_->buckets[bucket].unit >= 0) states_[0][bucket] = State();
  }
}

void UnitGather::BeforeBackward(int layer) { Gather(layer, Side::kBackward, true); }

std::vector<size_t> UnitGather::BucketsOf(int layer) const {
  std::vector<size_t> buckets;
  for (size_t i = 0; i < chunk_->buckets.size(); ++i) {
    if (HoldsParameters(*chunk_, i, layer)) buckets.push_back(i);
  }
  return buckets;
}

UnitGather::State& UnitGather::StateOf(size_t bucket, Side side) {
  const bool apart = two_sides_ && side == Side::kBackward && chunk_->buckets[bucket].quantized > 0;
  return states_[apart ? 1 : 0][bucket];
}

void UnitGather::Gather(int layer, Side side, bool ahead) {
  if (chunk_ == nullptr) return;
  const std::vector<size_t> wanted = BucketsOf(layer);
  const bool forward = side == Side::kForward;
  Start(ahead ? GatherWindow(chunk_->buckets, wanted, forward, c_.job.megatron_fsdp) : wanted,
        side);
  WaitFor(wanted, side);
}

// Buckets start in their own order, whatever the direction.
void UnitGather::Start(const std::vector<size_t>& window, Side side) {
  std::vector<size_t> buckets = window;
  std::sort(buckets.begin(), buckets.end());
  const Phase phase = c_.builder->phase();
  for (const size_t bucket : buckets) {
    State& state = StateOf(bucket, side);
    if (!state.gathered) Start(bucket, &state);
  }
  c_.builder->SetPhase(phase);
}

void UnitGather::Start(size_t bucket, State* state) {
  const Bucket& of = chunk_->buckets[bucket];
  OpId renewal = ProgramBuilder::kNothing;
  if (c_.job.megatron_fsdp.outer_optimizer && !renewed_[bucket]) {
    renewed_[bucket] = 1;
    CommCall call = GatherCall(c_.job, of, c_.layout);
    call.count = call.count / RanksOf(of, c_.layout) / c_.layout.instances * c_.layout.instances;
    call.group_size = c_.layout.instances;
    renewal = c_.builder->StartCollective(c_.shards.replica, kReplicaStream, call);
  }
  state->gathered = true;
  state->gather = StartBucketCall(c_, of, GatherCall(c_.job, of, c_.layout), renewal);
}

void UnitGather::WaitFor(const std::vector<size_t>& wanted, Side side) {
  for (const size_t bucket : wanted) {
    State& state = StateOf(bucket, side);
    c_.builder->Wait(state.gather);
    state.gather = ProgramBuilder::kNothing;
  }
}

void UnitGather::Free(int layer) {
  if (chunk_ == nullptr || !c_.job.megatron_fsdp.shards_parameters()) return;
  for (const size_t bucket : BucketsOf(layer)) {
    if (chunk_->buckets[bucket].unit < 0) continue;
    for (std::vector<State>& side : states_) side[bucket] = State();
  }
}

}  // namespace drydock
