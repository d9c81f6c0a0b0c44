#include "workload-gen/stages/step_tail.h"

#include <algorithm>

namespace drydock {

StepTail::StepTail(const WriterContext& context, const std::vector<ChunkBuckets>& chunks)
    : c_(context) {
  for (const ChunkBuckets& chunk : chunks) {
    for (const Parameter& parameter : chunk.parameters) {
      if (parameter.frozen) continue;
      if (IsSummedOverTensor(parameter)) replicated_ += parameter.elements;
      if (!c_.job.training.optimizer.distributed) owned_ += parameter.elements;
    }
    CountTensors(chunk);
    for (const Bucket& bucket : chunk.buckets) {
      quantized_ += bucket.quantized;
      quantized_weights_ += bucket.quantized_weights;
    }
    if (!c_.job.training.optimizer.distributed) continue;
    for (const Bucket& bucket : chunk.buckets) {
      owned_ += bucket.elements / OwnersOf(bucket, c_.job, c_.layout);
    }
  }
  if (!c_.job.training.optimizer.is_muon()) return;
  muon_ = MuonShareOf(chunks, c_.job, c_.layout, MuonRank::kMostWork);
  owned_ = muon_.matrix_elements + muon_.adam_elements;
  tensors_ = muon_.tensors;
}

// A rank of the distributed optimizer has an even share of a bucket's elements, so of its tensors.
void StepTail::CountTensors(const ChunkBuckets& chunk) {
  const auto all = static_cast<int64_t>(chunk.parameters.size());
  parameters_ += all;
  if (!c_.job.training.optimizer.distributed) {
    tensors_ += all;
    return;
  }
  for (const Bucket& bucket : chunk.buckets) {
    const auto count = static_cast<int64_t>(bucket.parameters.size());
    const int64_t ranks = OwnersOf(bucket, c_.job, c_.layout);
    tensors_ += (count + ranks - 1) / ranks;
  }
}

// _allreduce_non_tensor_model_parallel_grads of finalize_model_grads.py, which finds the norms of
// queries and keys by their names. Transformer Engine's latent attention has no norm of that name.
bool StepTail::IsSummedOverTensor(const Parameter& parameter) const {
  if (parameter.sequence_parallel) return true;
  const bool named = !c_.job.model.attention.is_latent() || !c_.job.training.kernels.fused;
  return c_.layout.tensor > 1 && named &&
         (parameter.kind == ParameterKind::kQNorm || parameter.kind == ParameterKind::kKNorm);
}

void StepTail::Write(GradientReduction* reduction, ParameterGather* gather) {
  c_.builder->SetPlace(-1, -1, 0);
  c_.builder->SetPhase(Phase::kGradientSync);
  reduction->Finish();
  ReduceReplicated();
  ReduceSharedEmbedding();
  UpdateRouterBiases();
  c_.builder->EndIteration();
  if (c_.job.training.optimizer.step_checks) {
    AllReduceWorld(DataType::kInt32, ReduceOp::kSum);
    c_.builder->HostReads();
  }
  c_.builder->SetPhase(Phase::kOptimizer);
  Optimize();
  gather->GatherAll();
  if (!gather->quantizes()) QuantizeWeights();
  c_.builder->SetPhase(Phase::kOther);
  Checks();
}

int StepTail::EmbeddingHolders() const {
  return static_cast<int>(EmbeddingStages(c_.layout, GroupNeedsOf(c_.job)).size());
}

void StepTail::AllReduce(Role role, Stream stream, DataType type, ReduceOp op, int64_t count) {
  const ParallelLayout& l = c_.layout;
  CommCall call;
  call.type = type;
  call.op = op;
  call.count = count;
  call.group_size = role == kTensorRole        ? l.tensor
                    : role == kDataRole        ? l.gradient_ranks()
                    : role == kModelRole       ? l.tensor * l.pipeline
                    : role == kExpertModelRole ? l.expert_tensor * l.expert * l.pipeline
                    : role == kStageRole       ? l.world() / l.pipeline
                    : role == kEmbeddingRole   ? EmbeddingHolders()
                    : role == kWorldRole       ? l.world()
                                               : l.world() / l.instances;
  c_.builder->Collective(role, stream, call);
}

void StepTail::AllReduceWorld(DataType type, ReduceOp op) {
  AllReduce(kWorldRole, kWorldStream, type, op, 1);
}

void StepTail::AllReduceReplica(DataType type, ReduceOp op) {
  AllReduce(kModelRole, kModelStream, type, op, 1);
}

void StepTail::AllReduceModel(ReduceOp op) {
  // Without sharding, Megatron-FSDP's ranks have whole gradients.
  const bool whole = c_.job.megatron_fsdp.sharding == ParameterSharding::kNoShard;
  const bool distributed = c_.job.training.optimizer.distributed && !whole;
  if (distributed)
    AllReduce(c_.shards.instance, kWorldStream, DataType::kFp32, op, 1);
  else
    AllReduceReplica(DataType::kFp32, op);
  // With expert parallelism, the gradients of experts have their own optimizer.
  if (!distributed && c_.job.model.moe.experts > 0 && c_.layout.expert > 1) {
    AllReduce(kExpertModelRole, kModelStream, DataType::kFp32, op, 1);
  }
}

void StepTail::ReduceReplicated() {
  if (replicated_ == 0) return;
  const bool parts = c_.job.megatron_fsdp.shards_gradients();
  AllReduce(kTensorRole, kTensorStream, c_.job.training.precision.gradients, ReduceOp::kSum,
            parts ? replicated_ / c_.layout.shard_ranks() : replicated_);
}

void StepTail::ReduceSharedEmbedding() {
  if (c_.job.model.lora.any()) return;
  const std::vector<int> holders = EmbeddingStages(c_.layout, GroupNeedsOf(c_.job));
  if (std::find(holders.begin(), holders.end(), c_.stage) == holders.end()) return;
  AllReduce(kEmbeddingRole, kEmbeddingStream, c_.job.training.precision.gradients, ReduceOp::kSum,
            c_.layout.padded_vocab / c_.layout.tensor * c_.job.model.hidden);
}

// Reduces the number of tokens of each expert in the whole step (DeepSeek-V3, section 2.1.2).
void StepTail::UpdateRouterBiases() {
  if (!c_.job.model.moe.router_bias) return;
  int64_t layers = 0;
  for (int chunk = 0; chunk < c_.layout.chunks; ++chunk) {
    const int end = c_.layout.EndLayer(c_.stage, chunk);
    for (int layer = c_.layout.FirstLayer(c_.stage, chunk); layer < end; ++layer) {
      layers += c_.job.model.HasExperts(layer) ? 1 : 0;
    }
  }
  const ModelShape& m = c_.job.model;
  const int last = c_.layout.chunks - 1;
  if (m.mtp_layers > 0 && m.HasExperts(m.layers)) {
    layers += c_.layout.EndMtpLayer(c_.stage, last) - c_.layout.FirstMtpLayer(c_.stage, last);
  }
  if (layers == 0) return;
  AllReduce(kStageRole, kStageStream, DataType::kFp32, ReduceOp::kSum,
            layers * c_.job.model.moe.experts);
}

// A stage without parameters updates nothing.
void StepTail::Compute(const char* name, const SubmoduleWork& work, DataType type) {
  if (owned_ == 0) return;
  c_.builder->Compute(StepWork(name, work, type, c_.tables));
}

void StepTail::Optimize() {
  const TrainingRules& training = c_.job.training;
  if (training.precision.type == DataType::kFp16) {
    Compute("optimizer.unscale", submodule::GradientScale{{owned_, tensors_}}, DataType::kFp32);
    AllReduceModel(ReduceOp::kMax);  // did any gradient overflow?
    c_.builder->HostReads();         // the host decides whether to step
  }
  if (training.optimizer.gradient_clipping) {
    Compute("optimizer.norm", submodule::GradientNorm{{owned_, tensors_}}, DataType::kFp32);
    AllReduceModel(ReduceOp::kSum);
    c_.builder->HostReads();  // the host computes the factor
    Compute("optimizer.clip", submodule::GradientScale{{owned_, tensors_}}, DataType::kFp32);
  }
  if (training.host.log_zeros) CountZeros();
  if (training.optimizer.is_muon()) {
    MuonStep(c_).Write(muon_.matrices);
    if (muon_.adam_elements > 0) {
      Compute("optimizer.adam", submodule::Optimizer{{muon_.adam_elements, muon_.adam_tensors}},
              DataType::kFp32);
    }
  } else {
    Compute("optimizer.adam", submodule::Optimizer{{owned_, tensors_}}, DataType::kFp32);
  }
  Compute("optimizer.copy", submodule::Cast{{owned_, tensors_}}, training.precision.type);
}

// count_zeros_fp32 of Megatron-Core's clip_grads.py: tensor by tensor, then one number.
void StepTail::CountZeros() {
  Compute("optimizer.zeros", submodule::ZeroCount{{owned_, tensors_}}, DataType::kFp32);
  AllReduceModel(ReduceOp::kSum);
  c_.builder->HostReads();
}

// calc_params_l2_norm of Megatron-LM's training/utils.py. The host reads the norm at the end of the
// step, where nothing follows.
void StepTail::LogParameters() {
  Compute("parameters.norm", submodule::GradientNorm{{owned_, parameters_}}, DataType::kFp32);
  if (c_.job.training.optimizer.distributed) {
    AllReduce(kDataRole, kDataStream, DataType::kFp32, ReduceOp::kSum, 1);
  }
  AllReduceReplica(DataType::kFp32, ReduceOp::kSum);
}

// Transformer Engine quantizes each weight once an iteration, in its first forward; here the
// weights of all layers follow one another. Weights that are gathered quantized are ready. The cast
// of delayed scaling is left out.
void StepTail::QuantizeWeights() {
  const PrecisionRules& precision = c_.job.training.precision;
  const DataType type = precision.products();
  if (quantized_ == 0 || precision.delayed_scaling()) return;
  const bool stored = type != DataType::kMxfp8 || c_.job.megatron_fsdp.any();
  if (precision.quantized_gather && stored) return;
  // Apart from a gather, the code of the weight's module does it.
  const int64_t weights = precision.quantized_gather ? quantized_weights_ : 0;
  c_.builder->Compute(QuantizeWork(weights, quantized_, type, c_.tables));
}

void StepTail::Checks() {
  if (c_.job.training.optimizer.step_checks) {
    AllReduceReplica(DataType::kInt32, ReduceOp::kMin);  // did the step succeed?
    c_.builder->HostReads();
    AllReduceReplica(DataType::kFp32, ReduceOp::kMax);  // gradient norm
    c_.builder->HostReads();
  }
  if (c_.stage == c_.layout.pipeline - 1) {
    AllReduce(kDataRole, kDataStream, DataType::kFp32, ReduceOp::kSum, 2);  // loss, token count
  }
  if (c_.job.training.host.log_params_norm) LogParameters();
}

}  // namespace drydock
