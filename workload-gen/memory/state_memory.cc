#include "workload-gen/memory/state_memory.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "workload-gen/stages/data_parallel.h"
#include "workload-gen/stages/fsdp_units.h"
#include "workload-gen/stages/muon_step.h"

namespace drydock {
namespace {

constexpr int64_t kAdamBytes = 12;  // fp32 copy and two moments
constexpr int64_t kMiB = int64_t{1} << 20;

// Parameters with equal numbers have weights of the same shape if their sizes are equal.
// 0: Transformer Engine does not compute with the parameter.
int ShapeOf(ParameterKind kind) {
  if (!IsLayerWeight(kind)) return 0;
  switch (kind) {
    case ParameterKind::kSharedFc1Weight:
    case ParameterKind::kExpertFc1Weight:
      return ShapeOf(ParameterKind::kFc1Weight);
    case ParameterKind::kSharedFc2Weight:
    case ParameterKind::kExpertFc2Weight:
      return ShapeOf(ParameterKind::kFc2Weight);
    default:
      return static_cast<int>(kind) + 1;
  }
}

bool IsRecent(const GpuSpec& gpu) { return gpu.compute_capability >= 90; }

class States {
 public:
  States(const TrainingJob& job, const ParallelLayout& layout, const GpuSpec& gpu)
      : job_(job), training_(job.training), layout_(layout), gpu_(gpu) {}

  StateMemory Of(int stage) {
    const std::vector<ChunkBuckets> chunks = MakeChunkBuckets(job_, layout_, stage);
    if (training_.optimizer.is_muon()) {
      states_.optimizer += MuonShareOf(chunks, job_, layout_, MuonRank::kMostBytes).state_bytes();
    }
    for (const ChunkBuckets& chunk : chunks) {
      for (const Bucket& bucket : chunk.buckets) AddBucket(bucket, chunk.parameters);
      for (const Parameter& parameter : chunk.parameters) AddParameter(parameter);
      if (job_.megatron_fsdp.any()) AddUnits(chunk);
    }
    states_.libraries += CublasWorkspaces(job_.memory, gpu_) + EngineWorkspaces();
    if (!training_.kernels.fused) states_.libraries += SharedBuffer();
    if (stage == layout_.pipeline - 1) states_.libraries += HeadBuffers();
    if (training_.moe.low_latency && layout_.expert > 1) states_.exchange = ExchangeBuffers();
    return states_;
  }

 private:
  void AddBucket(const Bucket& bucket, const std::vector<Parameter>& parameters) {
    const int64_t owners = OwnersOf(bucket, job_, layout_);
    const MegatronFsdpRules& fsdp = job_.megatron_fsdp;
    const int64_t parts = RanksOf(bucket, layout_);
    const DataType gradients = training_.precision.gradients;
    // With quantized_gather, the quantized copies are all there is of a weight.
    const int64_t copied = training_.precision.quantized_gather ? bucket.quantized : 0;
    states_.parameters += (bucket.elements - copied) / (fsdp.shards_parameters() ? parts : 1) *
                          SizeOf(training_.precision.type).count();
    states_.gradients +=
        bucket.elements / (fsdp.shards_gradients() ? parts : 1) * SizeOf(gradients).count();
    if (!training_.optimizer.is_muon()) states_.optimizer += bucket.elements / owners * kAdamBytes;
    AddParts(bucket, parameters, bucket.elements / owners);
    // The step casts gradients of 16 bits to fp32.
    if (gradients != DataType::kFp32) states_.step += bucket.elements / owners * 4;
  }

  // A rank's optimizer has a range of a bucket, which ends within a parameter.
  void AddParts(const Bucket& bucket, const std::vector<Parameter>& parameters, int64_t elements) {
    for (const size_t index : bucket.parameters) {
      const int64_t part = std::min(elements, parameters[index].elements);
      if (part <= 0) return;
      states_.parts.push_back(part);
      elements -= part;
    }
  }

  // Whole parameters and gradients of Megatron-FSDP's units: those in use and ahead, those outside
  // units, and those whose reduction runs.
  void AddUnits(const ChunkBuckets& chunk) {
    const MegatronFsdpRules& fsdp = job_.megatron_fsdp;
    const std::vector<Bucket>& buckets = chunk.buckets;
    int64_t all = 0, outside = 0, quantized = 0, largest = 0;
    for (const Bucket& bucket : buckets) {
      all += bucket.elements;
      quantized += bucket.quantized;
      (bucket.unit < 0 ? outside : largest) =
          bucket.unit < 0 ? outside + bucket.elements : std::max(largest, bucket.elements);
    }
    if (fsdp.shards_parameters()) {
      const int64_t type = SizeOf(training_.precision.type).count();
      const double each =
          training_.precision.quantized_gather && all > outside
              ? static_cast<double>(type) -
                    (static_cast<double>(type) - OperandBytes(training_.precision.products())) *
                        static_cast<double>(quantized) / static_cast<double>(all - outside)
              : static_cast<double>(type);
      const auto units = static_cast<double>(GatheredElements(buckets, fsdp));
      states_.gathered += outside * type + std::llround(units * each);
    }
    if (fsdp.shards_gradients()) {
      const int64_t waiting = fsdp.double_buffer ? 2 * largest + outside
                                                 : CommunicationElements(buckets, fsdp) + largest;
      states_.buffers += std::min(all, waiting) * SizeOf(training_.precision.gradients).count();
    }
  }

  bool fuses() const {
    return training_.kernels.fused && training_.kernels.gradient_accumulation_fusion;
  }

  // Where the product adds a weight's gradient to the main gradient, autograd still gets a tensor:
  // Transformer Engine keeps one for each shape of weights (get_dummy_wgrad). It also keeps each
  // quantized weight through a step's micro-batches.
  void AddParameter(const Parameter& parameter) {
    const int64_t type = SizeOf(training_.precision.type).count();
    const int shape = ShapeOf(parameter.kind);
    const bool quantized = training_.kernels.fused && IsQuantizedWeight(job_, parameter);
    states_.weights.push_back(parameter.elements * type);
    // A frozen weight is in no bucket. With quantized_gather, its quantized copy is all there is.
    if (parameter.frozen && !(quantized && training_.precision.quantized_gather)) {
      states_.parameters += parameter.elements * type;
    }
    if (shape == 0) return;
    const bool trained = fuses() && !parameter.frozen;
    if (trained && shapes_.emplace(shape, parameter.elements).second) {
      states_.libraries += parameter.elements * type;
    }
    if (!quantized) return;
    // Megatron-FSDP splits stored parameters, also quantized ones; a copy of bf16 stays whole.
    const bool split =
        job_.megatron_fsdp.shards_parameters() && training_.precision.quantized_gather;
    const int parts = !split             ? 1
                      : parameter.expert ? layout_.expert_shard_ranks()
                                         : layout_.shard_ranks();
    states_.fp8_weights +=
        std::llround(static_cast<double>(parameter.elements / parts) * CopyBytes());
  }

  // Of a weight's element. Blocks of scales differ between both directions; fp8 with one scale for
  // a tensor needs a transpose where products do not take any layout.
  double CopyBytes() const {
    const DataType type = training_.precision.products();
    const bool both = type != DataType::kFp8 || !gpu_.takes_any_fp8_layout();
    return (both ? 2 : 1) * OperandBytes(type);
  }

  // Transformer Engine has one for all products, and four for products of experts.
  int64_t EngineWorkspaces() const {
    if (!training_.kernels.fused) return 0;
    const MemoryRules& rules = job_.memory;
    const int64_t engine = rules.te_workspace >= Bytes() ? rules.te_workspace.count()
                           : IsRecent(gpu_)              ? 32 * kMiB
                                                         : 4 * kMiB;
    const bool grouped = job_.model.moe.experts > 0 && training_.moe.grouped_gemm;
    return engine * (grouped ? 5 : 1);
  }

  // The rows that tensor ranks gather.
  int64_t GatheredRows() const {
    if (!layout_.sequence_parallel) return 0;
    return job_.rank_tokens() * job_.model.hidden * SizeOf(training_.precision.type).count();
  }

  // Megatron-Core's own modules gather rows into one buffer that stays, which is also an operand of
  // the first product of attention ("mpu" of GlobalMemoryBuffer).
  int64_t SharedBuffer() const {
    const int64_t tokens = job_.training.batch.micro * job_.model.samples() * job_.model.attended();
    const int64_t scores = tokens * job_.model.attended() * job_.model.attention.heads /
                           layout_.tensor * SizeOf(training_.precision.type).count();
    return std::max(scores, GatheredRows());
  }

  // Megatron gathers the rows of the head into a buffer that stays; the gradient of the head's
  // weight has a tensor as those of other weights.
  int64_t HeadBuffers() const {
    const int64_t type = SizeOf(training_.precision.type).count(), hidden = job_.model.hidden;
    int64_t bytes = training_.kernels.fused ? GatheredRows() : 0;
    if (fuses() && !job_.model.lora.any())
      bytes += layout_.padded_vocab / layout_.tensor * hidden * type;
    return bytes;
  }

  // LowLatencyLayout of DeepEP's config.hpp: two buffers to send from, to receive in and for
  // counts, with a place for each token of the micro-batch on each expert.
  int64_t ExchangeBuffers() const {
    const int64_t width = job_.model.expert_width(), scales = width / 128;
    const int64_t experts = job_.model.moe.experts;
    const int64_t tokens = job_.tensor_rank_tokens();
    const int64_t dispatched = 16 + std::max(2 * width, width + 4 * scales);
    const int64_t combined = 4 * scales + 2 * width;
    const int64_t send = std::max(tokens * dispatched, experts * tokens * combined);
    const int64_t receive = experts * tokens * std::max(dispatched, combined);
    return 2 * (send + receive + 8 * experts);
  }

  const TrainingJob& job_;
  const TrainingRules& training_;
  const ParallelLayout& layout_;
  const GpuSpec& gpu_;
  StateMemory states_;
  std::set<std::pair<int, int64_t>> shapes_;
};

}  // namespace

int64_t CublasWorkspaces(const MemoryRules& rules, const GpuSpec& gpu) {
  const int64_t each = rules.cublas_workspace >= Bytes() ? rules.cublas_workspace.count()
                       : IsRecent(gpu)                   ? 32 * kMiB
                                                         : 8 * kMiB + 128 * 1024;
  return 2 * each;
}

StateMemory MegatronStates(const TrainingJob& job, const ParallelLayout& layout, int stage,
                           const GpuSpec& gpu) {
  return States(job, layout, gpu).Of(stage);
}

}  // namespace drydock
