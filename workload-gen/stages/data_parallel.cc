#include "workload-gen/stages/data_parallel.h"

#include <algorithm>
#include <cmath>

namespace drydock {

namespace {

// Starts a call over the ranks that share a bucket. Without expert parallelism, buckets of experts
// use the same ranks and communicator as the others. Otherwise they have their own communicator,
// and both kinds reduce at the same time.
ProgramBuilder::OpId StartBucketCall(const WriterContext& c, const Bucket& bucket, CommCall call) {
  call.buffers = c.job.training.optimizer.gradient_buffers;
  if (call.count == 0) call.count = bucket.elements;
  call.group_size = RanksOf(bucket, c.layout);
  if (!bucket.expert) return c.builder->StartCollective(kDataRole, kDataStream, call);
  const bool same = c.layout.expert == 1 && c.layout.expert_tensor == c.layout.tensor;
  return c.builder->StartCollective(kExpertDataRole, same ? kDataStream : kExpertDataStream, call);
}

// The weights of the bucket whose products are quantized.
int64_t QuantizedElements(const TrainingJob& job, const std::vector<Parameter>& parameters,
                          const Bucket& bucket) {
  int64_t elements = 0;
  for (const size_t index : bucket.parameters) {
    const Parameter& parameter = parameters[index];
    if (IsQuantizedWeight(job, parameter)) elements += parameter.elements;
  }
  return elements;
}

// Gathers the weights as they are stored, one direction of them (param_and_grad_buffer.py). The two
// directions of MXFP8 differ in their scales, so bf16 is gathered and quantized afterwards.
void GatherQuantized(const PrecisionRules& precision, const Bucket& bucket, int ranks,
                     CommCall* call) {
  const DataType type = precision.products();
  if (!precision.quantized_gather || type == DataType::kMxfp8 || bucket.quantized == 0) return;
  const double each = OperandBytes(type);
  const auto half = static_cast<double>(SizeOf(precision.type).count());
  const double bytes = static_cast<double>(bucket.quantized) * each +
                       static_cast<double>(bucket.elements - bucket.quantized) * half;
  call->type = DataType::kUint8;
  call->count = static_cast<int64_t>(std::ceil(bytes / ranks)) * ranks;
}

}  // namespace

int RanksOf(const Bucket& bucket, const ParallelLayout& layout) {
  return bucket.expert ? layout.expert_data() : layout.gradient_ranks();
}

std::vector<ChunkBuckets> MakeChunkBuckets(const TrainingJob& job, const ParallelLayout& layout,
                                           int stage) {
  std::vector<ChunkBuckets> chunks;
  for (int chunk = 0; chunk < layout.chunks; ++chunk) {
    BucketRule rule;
    rule.data = layout.gradient_ranks();
    rule.distributed_optimizer = job.training.optimizer.distributed;
    if (job.overlap.grad_reduce && stage == 0 && chunk == 0) {
      rule.elements = job.training.optimizer.bucket_elements > 0
                          ? job.training.optimizer.bucket_elements
                          : DefaultBucketElements(rule.data);
    }
    ChunkBuckets made;
    made.parameters = ChunkParameters(job.model, layout, stage, chunk);
    made.buckets = MakeBuckets(made.parameters, rule);
    rule.data = layout.expert_data();
    rule.expert = true;
    for (Bucket& bucket : MakeBuckets(made.parameters, rule)) {
      made.buckets.push_back(std::move(bucket));
    }
    for (Bucket& bucket : made.buckets) {
      bucket.quantized = QuantizedElements(job, made.parameters, bucket);
    }
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
  const TrainingRules& training = c_.job.training;
  launched_[chunk][bucket] = 1;
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
      training.optimizer.distributed ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce;
  call.type = training.precision.gradients;
  running_.push_back(StartBucketCall(c_, chunks_[chunk].buckets[bucket], call));
  if (!c_.job.overlap.grad_reduce) b.Wait(running_.back());
  b.SetPhase(phase);
}

void GradientReduction::Reduce(int chunk) {
  const auto c = static_cast<size_t>(chunk);
  for (size_t bucket = 0; bucket < chunks_[c].buckets.size(); ++bucket) {
    if (!launched_[c][bucket]) Launch(c, bucket);
  }
}

void GradientReduction::Finish() {
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) Reduce(static_cast<int>(chunk));
  for (const ProgramBuilder::OpId op : running_) c_.builder->Wait(op);
}

ParameterGather::ParameterGather(const WriterContext& context,
                                 const std::vector<ChunkBuckets>* chunks)
    : c_(context), chunks_(*chunks) {
  for (const ChunkBuckets& chunk : chunks_) {
    ops_.emplace_back(chunk.buckets.size(), ProgramBuilder::kNothing);
  }
}

bool ParameterGather::overlapped() const {
  return c_.job.overlap.param_gather &&
         (c_.layout.gradient_ranks() > 1 || c_.layout.expert_data() > 1);
}

ProgramBuilder::OpId ParameterGather::Start(size_t chunk, size_t bucket) {
  CommCall call;
  call.collective = CollectiveType::kAllGather;
  call.type = c_.job.training.precision.type;
  const Bucket& of = chunks_[chunk].buckets[bucket];
  GatherQuantized(c_.job.training.precision, of, RanksOf(of, c_.layout), &call);
  return ops_[chunk][bucket] = StartBucketCall(c_, of, call);
}

// Begins at the start of the model, with the bucket that was filled last.
void ParameterGather::StartChunk(size_t chunk) {
  if (chunk >= ops_.size()) return;
  for (size_t bucket = ops_[chunk].size(); bucket-- > 0;) {
    if (ops_[chunk][bucket] == ProgramBuilder::kNothing) Start(chunk, bucket);
  }
}

void ParameterGather::Begin() {
  if (!overlapped()) return;
  if (c_.layout.chunks == 1) return;
  StartChunk(0);
  StartChunk(1);
}

bool ParameterGather::Holds(size_t chunk, size_t bucket, int layer) const {
  const ChunkBuckets& c = chunks_[chunk];
  return std::any_of(c.buckets[bucket].parameters.begin(), c.buckets[bucket].parameters.end(),
                     [&](size_t index) {
                       const Parameter& p = c.parameters[index];
                       const bool end = p.kind >= ParameterKind::kFinalNormWeight;
                       return layer == kHead ? end : p.layer == layer && !end;
                     });
}

void ParameterGather::BeforeForward(int chunk, int layer) {
  if (!overlapped()) return;
  const auto c = static_cast<size_t>(chunk);
  if (c_.layout.chunks > 1) StartChunk(c + 1);
  for (size_t bucket = ops_[c].size(); bucket-- > 0;) {
    if (!Holds(c, bucket, layer)) continue;
    if (ops_[c][bucket] == ProgramBuilder::kNothing) Start(c, bucket);
    c_.builder->Wait(ops_[c][bucket]);
    // The next bucket is gathered while the layers of this bucket compute.
    const bool more =
        bucket > 0 && chunks_[c].buckets[bucket - 1].expert == chunks_[c].buckets[bucket].expert;
    if (more && ops_[c][bucket - 1] == ProgramBuilder::kNothing) Start(c, bucket - 1);
  }
}

void ParameterGather::GatherAll() {
  if (!c_.job.training.optimizer.distributed || overlapped()) return;
  for (size_t chunk = ops_.size(); chunk-- > 0;) {
    for (size_t bucket = 0; bucket < ops_[chunk].size(); ++bucket) {
      c_.builder->Wait(Start(chunk, bucket));
    }
  }
}

}  // namespace drydock
