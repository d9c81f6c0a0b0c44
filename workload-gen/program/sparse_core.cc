#include "workload-gen/program/sparse_core.h"

namespace drydock {

void SparseCore::Exchange(CollectiveType collective, int64_t count) {
  CommCall call;
  call.collective = collective;
  call.type = c_.job.training.precision.type;
  call.count = count * c_.layout.context;
  call.group_size = c_.layout.context;
  c_.builder->Collective(kContextRole, kContextStream, call);
}

void SparseCore::Forward(const SparseCoreWork& work, bool learns) {
  ProgramBuilder& b = *c_.builder;
  Exchange(CollectiveType::kAllGather, work.keys);
  Indexer(work, learns ? work.index.forward : work.unlearned_index);
  const bool target = work.target && learns;
  // cuDNN's loss takes the sums of attention's softmax.
  if (work.gradients_early) b.Compute(work.attention.forward);
  if (target) Target(work, work.target->forward);
  if (target && work.gradients_early) b.Compute(work.index.backward);
  if (!work.gradients_early) b.Compute(work.attention.forward);
  b.Compute(work.value_up.forward);
  b.Compute(work.value_join.forward);
}

void SparseCore::Indexer(const SparseCoreWork& work, uint32_t index) {
  const LatentAttention& latent = c_.job.model.attention.latent;
  ProgramBuilder& b = *c_.builder;
  tensor_.Enter();
  tensor_.Enter(latent.q_rank > 0 ? latent.q_rank : c_.job.model.hidden);
  b.Compute(work.index_q.forward);
  b.Compute(work.index_k.forward);
  b.Compute(work.index_weights.forward);
  b.Compute(work.index_norm.forward);
  b.Compute(work.index_rotary.forward);
  b.Compute(work.index_join.forward);
  b.Compute(work.index_transform.forward);
  b.Compute(work.index_scale.forward);
  Exchange(CollectiveType::kAllGather, work.index_keys);
  b.Compute(index);
}

void SparseCore::Target(const SparseCoreWork& work, uint32_t target) {
  c_.builder->Compute(target);
  CommCall sum;
  sum.type = DataType::kFp32;
  sum.count = work.target_count;
  sum.group_size = c_.layout.tensor;
  c_.builder->Collective(kTensorRole, kTensorStream, sum);
}

void SparseCore::WeightGradient(const LinearWork& linear) {
  c_.builder->Compute(linear.weight_gradient);
  if (linear.accumulate) c_.builder->Compute(*linear.accumulate);
}

void SparseCore::AttentionBackward(const SparseCoreWork& work) {
  ProgramBuilder& b = *c_.builder;
  b.Compute(work.value_join.backward);
  b.Compute(work.value_up.activation_gradient);
  WeightGradient(work.value_up);
  if (work.skips_rows) b.HostReads();
  b.Compute(work.attention.backward);
  Exchange(CollectiveType::kReduceScatter, work.keys);
}

void SparseCore::IndexerBackward(const SparseCoreWork& work) {
  ProgramBuilder& b = *c_.builder;
  if (work.target_again) Target(work, work.target->backward);
  if (!work.gradients_early) b.Compute(work.index.backward);
  Exchange(CollectiveType::kReduceScatter, work.index_keys);
  b.Compute(work.index_scale.backward);
  b.Compute(work.index_transform.backward);
  b.Compute(work.index_join.backward);
  b.Compute(work.index_rotary.backward);
  b.Compute(work.index_norm.backward);
  for (const LinearWork* linear : {&work.index_weights, &work.index_k, &work.index_q}) {
    WeightGradient(*linear);
  }
}

void SparseCore::AbsorbBackward(const SparseCoreWork& work) {
  c_.builder->Compute(work.absorb.activation_gradient);
  WeightGradient(work.absorb);
  if (work.accumulate) c_.builder->Compute(*work.accumulate);
}

}  // namespace drydock
