#include "workload-gen/stages/data_parallel.h"

#include <algorithm>
#include <cmath>

#include "workload-gen/stages/fsdp_units.h"

namespace drydock {

namespace {

// Counts the weights of the bucket whose products are quantized.
void CountQuantized(const TrainingJob& job, const std::vector<Parameter>& parameters,
                    Bucket* bucket) {
  for (const size_t index : bucket->parameters) {
    const Parameter& parameter = parameters[index];
    if (!IsQuantizedWeight(job, parameter)) continue;
    bucket->quantized += parameter.elements;
    ++bucket->quantized_weights;
  }
}

// Gathers the weights as they are stored, one direction of them (param_and_grad_buffer.py). The two
// directions of MXFP8 differ in their scales, so bf16 is gathered and quantized afterwards; but
// Megatron-FSDP gathers each direction for the pass that needs it.
void GatherQuantized(const TrainingJob& job, const Bucket& bucket, int ranks, CommCall* call) {
  const PrecisionRules& precision = job.training.precision;
  const DataType type = precision.products();
  if (!precision.quantized_gather || bucket.quantized == 0) return;
  if (type == DataType::kMxfp8 && !job.megatron_fsdp.any()) return;
  const double each = OperandBytes(type);
  const auto half = static_cast<double>(SizeOf(precision.type).count());
  const double bytes = static_cast<double>(bucket.quantized) * each +
                       static_cast<double>(bucket.elements - bucket.quantized) * half;
  call->type = DataType::kUint8;
  call->count = static_cast<int64_t>(std::ceil(bytes / ranks)) * ranks;
}

// The buckets of experts come last. The layer-wise optimizer has buckets of matrices and others.
std::vector<Bucket> MakeBothBuckets(const std::vector<Parameter>& parameters,
                                    const TrainingJob& job, const BucketRule& dense,
                                    const ParallelLayout& layout) {
  using Tensors = BucketRule::Tensors;
  const OptimizerRules& optimizer = job.training.optimizer;
  std::vector<Tensors> kinds = {Tensors::kAll};
  if (optimizer.is_muon() && optimizer.scatters()) kinds = {Tensors::kMatrices, Tensors::kOthers};
  std::vector<Bucket> buckets;
  for (const bool expert : {false, true}) {
    for (const Tensors tensors : kinds) {
      BucketRule rule = dense;
      rule.expert = expert;
      rule.tensors = tensors;
      if (expert) rule.data = layout.expert_shard_ranks();
      for (Bucket& bucket : MakeBuckets(parameters, rule)) buckets.push_back(std::move(bucket));
    }
  }
  return buckets;
}

}  // namespace

// Starts a call over the ranks that share a bucket. Buckets of experts have their own communicator,
// so both kinds reduce at the same time.
ProgramBuilder::OpId StartBucketCall(const WriterContext& c, const Bucket& bucket, CommCall call,
                                     ProgramBuilder::OpId after) {
  call.buffers = c.job.training.optimizer.gradient_buffers;
  if (call.count == 0) call.count = bucket.elements;
  call.group_size = RanksOf(bucket, c.layout);
  if (!bucket.expert) return c.builder->StartCollective(c.shards.shard, kDataStream, call, after);
  return c.builder->StartCollective(c.shards.expert_shard, kExpertDataStream, call, after);
}

int RanksOf(const Bucket& bucket, const ParallelLayout& layout) {
  return bucket.expert ? layout.expert_shard_ranks() : layout.shard_ranks();
}

int64_t OwnersOf(const Bucket& bucket, const TrainingJob& job, const ParallelLayout& layout) {
  const bool whole = job.megatron_fsdp.sharding == ParameterSharding::kNoShard;
  if (!job.training.optimizer.scatters() || whole) return 1;
  const int instances = job.megatron_fsdp.outer_optimizer ? layout.instances : 1;
  return int64_t{RanksOf(bucket, layout)} * instances;
}

bool HoldsParameters(const ChunkBuckets& chunk, size_t bucket, int layer) {
  const std::vector<size_t>& held = chunk.buckets[bucket].parameters;
  return std::any_of(held.begin(), held.end(), [&](size_t index) {
    const Parameter& p = chunk.parameters[index];
    const bool end = p.kind >= ParameterKind::kFinalNormWeight;
    return layer == ParameterGather::kHead ? end : p.layer == layer && !end;
  });
}

CommCall GatherCall(const TrainingJob& job, const Bucket& bucket, const ParallelLayout& layout) {
  CommCall call;
  call.collective = CollectiveType::kAllGather;
  call.type = job.training.precision.type;
  // Without a layout, the ranks' parts have about the same size.
  const int64_t ranks = RanksOf(bucket, layout);
  call.count = (bucket.elements + ranks - 1) / ranks * ranks;
  GatherQuantized(job, bucket, RanksOf(bucket, layout), &call);
  return call;
}

std::vector<ChunkBuckets> MakeChunkBuckets(const TrainingJob& job, const ParallelLayout& layout,
                                           int stage) {
  std::vector<ChunkBuckets> chunks;
  for (int chunk = 0; chunk < layout.chunks; ++chunk) {
    BucketRule rule;
    rule.data = layout.shard_ranks();
    rule.distributed_optimizer = job.training.optimizer.scatters();
    if (job.overlap.grad_reduce && stage == 0 && chunk == 0) {
      rule.elements = job.training.optimizer.bucket_elements > 0
                          ? job.training.optimizer.bucket_elements
                          : DefaultBucketElements(layout.gradient_ranks());
    }
    ChunkBuckets made;
    made.parameters = ChunkParameters(job, layout, stage, chunk);
    made.buckets = job.megatron_fsdp.any() ? MakeUnitBuckets(made.parameters, job, layout)
                                           : MakeBothBuckets(made.parameters, job, rule, layout);
    for (Bucket& bucket : made.buckets) CountQuantized(job, made.parameters, &bucket);
    chunks.push_back(std::move(made));
  }
  return chunks;
}

GradientReduction::GradientReduction(const WriterContext& context,
                                     const std::vector<ChunkBuckets>* chunks)
    : c_(context), chunks_(*chunks) {
  for (const ChunkBuckets& chunk : chunks_) {
    missing_.emplace_back();
    buckets_of_.emplace_back();
    for (size_t bucket = 0; bucket < chunk.buckets.size(); ++bucket) {
      missing_.back().push_back(chunk.buckets[bucket].parameters.size());
      for (const size_t index : chunk.buckets[bucket].parameters) {
        const Parameter& parameter = chunk.parameters[index];
        buckets_of_.back()[{parameter.kind, parameter.layer}].push_back(bucket);
      }
    }
    launched_.emplace_back(chunk.buckets.size(), 0);
  }
}

// Megatron-FSDP reduces the same buckets again in each micro-batch.
void GradientReduction::Arm(int chunk) {
  armed_ = chunk;
  if (!c_.job.megatron_fsdp.any()) return;
  const auto c = static_cast<size_t>(chunk);
  for (size_t bucket = 0; bucket < launched_[c].size(); ++bucket) {
    missing_[c][bucket] = chunks_[c].buckets[bucket].parameters.size();
    launched_[c][bucket] = 0;
  }
}

void GradientReduction::FinishMicrobatch() {
  Reduce(armed_);
  WaitForAll();
  queue_.clear();
}

void GradientReduction::OnGradient(ParameterKind kind, int layer) {
  if (armed_ < 0) return;
  const auto chunk = static_cast<size_t>(armed_);
  const auto buckets = buckets_of_[chunk].find({kind, layer});
  if (buckets == buckets_of_[chunk].end()) return;
  for (const size_t bucket : buckets->second) {
    if (--missing_[chunk][bucket] == 0) Launch(chunk, bucket);
  }
}

void GradientReduction::Launch(size_t chunk, size_t bucket) {
  launched_[chunk][bucket] = 1;
  if (c_.job.megatron_fsdp.any()) return LaunchUnit(chunks_[chunk].buckets[bucket]);
  const TrainingRules& training = c_.job.training;
  const int64_t elements = chunks_[chunk].buckets[bucket].elements;
  ProgramBuilder& b = *c_.builder;
  const Phase phase = b.phase();
  b.SetPhase(Phase::kGradientSync);
  if (training.optimizer.check_gradients) {
    b.Compute(StepWork("gradients.check", submodule::GradientNorm{{elements}},
                       training.precision.gradients, c_.tables));
    b.HostReads();  // checks that the norm is a number
  }
  if (c_.layout.gradient_ranks() > 1) {
    b.Compute(StepWork("gradients.average", submodule::GradientScale{{elements}},
                       training.precision.gradients, c_.tables));
  }
  CommCall call;
  call.collective =
      training.optimizer.scatters() ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce;
  call.type = training.precision.gradients;
  running_.push_back(StartReduction(chunks_[chunk].buckets[bucket], call));
  if (!c_.job.overlap.grad_reduce) b.Wait(running_.back());
  b.SetPhase(phase);
}

// The sums of an instance's ranks are summed over instances. One stream issues both, so the next
// bucket waits.
ProgramBuilder::OpId GradientReduction::StartReduction(const Bucket& bucket, const CommCall& call) {
  if (c_.layout.instances == 1) return StartBucketCall(c_, bucket, call);
  const ProgramBuilder::OpId within = StartBucketCall(c_, bucket, call, across_);
  CommCall sum;
  sum.type = call.type;
  sum.count = bucket.elements / RanksOf(bucket, c_.layout);
  sum.group_size = c_.layout.instances;
  return across_ = c_.builder->StartCollective(c_.shards.replica, kReplicaStream, sum, within);
}

// reduce_gradients and _bucket_group_gradient_reduce of megatron_fsdp. Compute waits where too many
// gradients are on their way. NCCL divides sums of fp32; a kernel divides 16 bits. The reduced part
// is added to that of earlier micro-batches behind the reduction.
void GradientReduction::LaunchUnit(const Bucket& bucket) {
  const MegatronFsdpRules& rules = c_.job.megatron_fsdp;
  const DataType type = c_.job.training.precision.gradients;
  ProgramBuilder& b = *c_.builder;
  const Phase phase = b.phase();
  b.SetPhase(Phase::kGradientSync);
  LimitQueue();
  const int ranks = RanksOf(bucket, c_.layout);
  if (type != DataType::kFp32 && !rules.per_token_loss) {
    b.Compute(StepWork("gradients.average", submodule::GradientScale{{bucket.elements}}, type,
                       c_.tables));
  }
  CommCall call;
  call.collective = rules.sharding == ParameterSharding::kNoShard ? CollectiveType::kAllReduce
                                                                  : CollectiveType::kReduceScatter;
  call.type = type;
  ProgramBuilder::OpId end = StartBucketCall(c_, bucket, call);
  if (rules.shards_gradients()) end = AddShare(bucket, end);
  if (c_.layout.instances > 1 && last_) end = ReduceOverInstances(bucket, end);
  queue_.emplace_back(bucket.elements, end);
  running_.push_back(end);
  if (!c_.job.overlap.grad_reduce && !rules.shards_gradients()) b.Wait(end);
  b.SetPhase(phase);
}

void GradientReduction::LimitQueue() {
  const int64_t limit = CommunicationElements(chunks_.front().buckets, c_.job.megatron_fsdp);
  int64_t elements = 0;
  for (const auto& [size, op] : queue_) elements += size;
  while (elements > limit) {
    elements -= queue_.front().first;
    c_.builder->Wait(queue_.front().second);
    queue_.erase(queue_.begin());
  }
}

ProgramBuilder::OpId GradientReduction::AddShare(const Bucket& bucket, ProgramBuilder::OpId after) {
  const DataType type = c_.job.training.precision.gradients;
  const submodule::Add add{.rows = bucket.elements / RanksOf(bucket, c_.layout),
                           .n = 1,
                           .accumulate_fp32 = type == DataType::kFp32};
  if (after == ProgramBuilder::kNothing) {
    c_.builder->Compute(StepWork("gradients.add", add, type, c_.tables));
    return after;
  }
  ProgramBuilder::Point point{ProgramBuilder::kNothing, {after}};
  c_.builder->BeginBeside(bucket.expert ? kExpertDataStream : kDataStream, point);
  c_.builder->Compute(StepWork("gradients.add", add, type, c_.tables));
  c_.builder->EndBeside(&point);
  return point.waits.back();
}

ProgramBuilder::OpId GradientReduction::ReduceOverInstances(const Bucket& bucket,
                                                            ProgramBuilder::OpId after) {
  CommCall call;
  if (c_.job.megatron_fsdp.outer_optimizer) call.collective = CollectiveType::kReduceScatter;
  call.type = c_.job.training.precision.gradients;
  call.count = bucket.elements / RanksOf(bucket, c_.layout);
  call.group_size = c_.layout.instances;
  return c_.builder->StartCollective(c_.shards.replica, kReplicaStream, call, after);
}

void GradientReduction::Reduce(int chunk) {
  const auto c = static_cast<size_t>(chunk);
  for (size_t bucket = 0; bucket < chunks_[c].buckets.size(); ++bucket) {
    if (!launched_[c][bucket]) Launch(c, bucket);
  }
}

void GradientReduction::Finish() {
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) Reduce(static_cast<int>(chunk));
  WaitForAll();
}

void GradientReduction::WaitForAll() {
  for (const ProgramBuilder::OpId op : running_) c_.builder->Wait(op);
  running_.clear();
}

ParameterGather::ParameterGather(const WriterContext& context,
                                 const std::vector<ChunkBuckets>* chunks)
    : c_(context), chunks_(*chunks) {
  for (const ChunkBuckets& chunk : chunks_) {
    ops_.emplace_back(chunk.buckets.size(), ProgramBuilder::kNothing);
    quantized_.emplace_back(chunk.buckets.size(), false);
  }
}

bool ParameterGather::quantizes() const {
  const PrecisionRules& precision = c_.job.training.precision;
  return overlapped() && precision.quantized_gather && precision.products() == DataType::kMxfp8;
}

// Weights in MXFP8 are gathered in 16 bits, and each is quantized behind the gather of its bucket
// (_post_param_sync of param_and_grad_buffer.py): a hook of the module, in front of its graph.
void ParameterGather::Quantize(int chunk, size_t bucket) {
  const auto c = static_cast<size_t>(chunk);
  const Bucket& of = chunks_[c].buckets[bucket];
  if (!quantizes() || quantized_[c][bucket] || of.quantized_weights == 0) return;
  quantized_[c][bucket] = true;
  const Op place = c_.builder->place();
  c_.builder->SetPlace(-1, place.microbatch, chunk);
  c_.builder->Compute(
      QuantizeWork(of.quantized_weights, of.quantized, DataType::kMxfp8, c_.tables));
  c_.builder->SetPlace(place.layer, place.microbatch, place.chunk);
}

bool ParameterGather::overlapped() const {
  return c_.job.overlap.param_gather && !c_.job.megatron_fsdp.any() &&
         (c_.layout.gradient_ranks() > 1 || c_.layout.expert_data() > 1);
}

ProgramBuilder::OpId ParameterGather::Start(size_t chunk, size_t bucket) {
  const Bucket& of = chunks_[chunk].buckets[bucket];
  return ops_[chunk][bucket] = StartBucketCall(c_, of, GatherCall(c_.job, of, c_.layout));
}

// start_param_sync of distributed_data_parallel.py, for a whole chunk: in the order of filling, so
// that the bucket of the first layers comes last.
void ParameterGather::StartChunk(size_t chunk) {
  if (chunk >= ops_.size()) return;
  for (size_t bucket = 0; bucket < ops_[chunk].size(); ++bucket) {
    if (ops_[chunk][bucket] == ProgramBuilder::kNothing) Start(chunk, bucket);
  }
}

void ParameterGather::Begin() {
  if (!overlapped()) return;
  if (c_.layout.chunks == 1) return;
  StartChunk(0);
  StartChunk(1);
}

void ParameterGather::BeforeForward(int chunk, int layer) {
  if (!overlapped()) return;
  const auto c = static_cast<size_t>(chunk);
  if (c_.layout.chunks > 1) StartChunk(c + 1);
  for (size_t bucket = ops_[c].size(); bucket-- > 0;) {
    if (!HoldsParameters(chunks_[c], bucket, layer)) continue;
    if (ops_[c][bucket] == ProgramBuilder::kNothing) Start(c, bucket);
    c_.builder->Wait(ops_[c][bucket]);
    // The next bucket is gathered while the layers of this bucket compute.
    const bool more =
        bucket > 0 && chunks_[c].buckets[bucket - 1].expert == chunks_[c].buckets[bucket].expert;
    if (more && ops_[c][bucket - 1] == ProgramBuilder::kNothing) Start(c, bucket - 1);
    Quantize(chunk, bucket);
  }
}

void ParameterGather::GatherAll() {
  const bool units = c_.job.megatron_fsdp.any();  // UnitGather gathers
  if (!c_.job.training.optimizer.distributed || overlapped() || units) return;
  // step_with_ready_grads of distrib_optimizer.py: chunk by chunk, each from the end of the model.
  // With expert parallelism, experts have a distributed optimizer of their own, and each of the two
  // gathers all buckets, also on stages without experts: all ranks have the same parameter groups
  // (_get_param_groups of optimizer/__init__.py). Adapters leave experts without a gradient.
  const ModelShape& model = c_.job.model;
  const bool twice = model.moe.experts > 0 && c_.layout.expert > 1 && !model.lora.any() &&
                     c_.job.training.optimizer.scatters() && !c_.job.training.optimizer.is_muon();
  for (int time = 0; time < (twice ? 2 : 1); ++time) {
    for (size_t chunk = 0; chunk < ops_.size(); ++chunk) {
      for (size_t bucket = 0; bucket < ops_[chunk].size(); ++bucket) {
        c_.builder->Wait(Start(chunk, bucket));
        if (!c_.job.training.optimizer.scatters()) CopyTensors(chunk, bucket);
      }
    }
  }
}

// allgather_params of layer_wise_optimizer.py: updated tensors are joined, and those of other ranks
// copied to their places one by one.
void ParameterGather::CopyTensors(size_t chunk, size_t bucket) {
  const Bucket& of = chunks_[chunk].buckets[bucket];
  if (RanksOf(of, c_.layout) < 2) return;
  for (const size_t index : of.parameters) {
    const submodule::Add copy{
        .rows = chunks_[chunk].parameters[index].elements, .n = 1, .summands = 1};
    c_.builder->Compute(
        StepWork("parameters.copy", copy, c_.job.training.precision.type, c_.tables));
  }
}

}  // namespace drydock
