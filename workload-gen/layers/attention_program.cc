#include "workload-gen/layers/attention_program.h"

#include "workload-gen/program/module_offload.h"

namespace drydock {

void AttentionWriter::Forward(const AttentionWork& work) {
  ProgramBuilder& b = *c_.builder;
  if (work.norm) b.Compute(work.norm->forward);
  ProjectionsForward(work);
  CoreForward(work);
  Leave(c_.offload, OffloadModule::kCoreAttention);
  if (work.gate) b.Compute(work.gate->forward);
  tensor_.RowForward(work.proj);
  Leave(c_.offload, OffloadModule::kProj);
  if (work.post_norm) b.Compute(work.post_norm->forward);
  b.Compute(work.residual.forward);
  Leave(c_.offload, OffloadModule::kAttentionNorm);
}

void AttentionWriter::ProjectionsForward(const AttentionWork& work) {
  ProgramBuilder& b = *c_.builder;
  if (work.latent) {
    LatentForward(work);
  } else {
    tensor_.ColumnForward(work.qkv);
    if (work.gathered_width > 0) {
      b.Wait(tensor_.Start(CollectiveType::kAllGather, work.gathered_width));
    }
  }
  if (work.q_norm) {
    b.Compute(work.q_norm->forward);
    if (work.whole_norms) AddSquares();
  }
  if (work.k_norm) {
    b.Compute(work.k_norm->forward);
    if (work.whole_norms) AddSquares();
  }
  if (!work.latent) Leave(c_.offload, OffloadModule::kQkv);
  if (work.rotary) b.Compute(work.rotary->forward);
  if (work.sparse) b.Compute(work.sparse->join.forward);
  if (work.latent) Leave(c_.offload, OffloadModule::kQkv);
}

// The sum of a row's squares is in fp32, as two elements of 16 bits.
void AttentionWriter::AddSquares() {
  if (c_.layout.tensor > 1) c_.builder->Wait(tensor_.Start(CollectiveType::kAllReduce, 2));
}

// Down-projections work on this rank's rows. Their narrow results are gathered.
void AttentionWriter::LatentForward(const AttentionWork& work) {
  const LatentWork& latent = *work.latent;
  ProgramBuilder& b = *c_.builder;
  if (latent.q_down) b.Compute(latent.q_down->forward);
  b.Compute(latent.kv_down.forward);
  tensor_.Enter(c_.job.model.attention.latent.rope_dim);  // the rotated part of the keys
  UpForward(work);
}

void AttentionWriter::UpForward(const AttentionWork& work) {
  const LatentWork& latent = *work.latent;
  const LatentAttention& shape = c_.job.model.attention.latent;
  ProgramBuilder& b = *c_.builder;
  if (latent.q_norm) b.Compute(latent.q_norm->forward);
  tensor_.EnterInput(latent.q_up, latent.q_down ? shape.q_rank : c_.job.model.hidden);
  b.Compute(latent.q_up.forward);
  b.Compute(latent.kv_norm.forward);
  if (work.sparse) {
    tensor_.Enter(shape.kv_rank);
    return b.Compute(work.sparse->absorb.forward);
  }
  tensor_.EnterInput(latent.kv_up, shape.kv_rank);
  b.Compute(latent.kv_up.forward);
}

// What absorbed_mla.py repeats: the norms, and the all-gather of latent keys, lie before it.
void AttentionWriter::AbsorbedForward(const AttentionWork& work) {
  const LatentWork& latent = *work.latent;
  tensor_.EnterInput(latent.q_up,
                     latent.q_down ? c_.job.model.attention.latent.q_rank : c_.job.model.hidden);
  c_.builder->Compute(latent.q_up.forward);
  c_.builder->Compute(work.sparse->absorb.forward);
}

// A layer that is repeated runs without autograd first, and then computes no loss of an indexer.
void AttentionWriter::CoreForward(const AttentionWork& work) {
  if (!work.sparse) return core_.Forward(work.core);
  const Op& place = c_.builder->place();
  const bool repeated = c_.job.training.recompute.modules.core_attention ||
                        c_.RepeatsLayer(place.layer, place.chunk);
  sparse_.Forward(*work.sparse, !repeated || place.phase == Phase::kRecompute);
}

bool AttentionWriter::recomputes_up() const {
  return c_.job.training.recompute.modules.mla_up_projection && c_.job.model.attention.is_latent();
}

// Transformer Engine fuses the norm before standard attention with the product behind it, so that
// there is no norm to repeat.
bool AttentionWriter::repeats_norm(const AttentionWork& work) const {
  const TrainingRules& training = c_.job.training;
  return training.recompute.modules.norms && work.norm && (!training.kernels.fused || work.latent);
}

void AttentionWriter::Recompute(const AttentionWork& work) {
  const RecomputeModules& modules = c_.job.training.recompute.modules;
  if (!modules.core_attention && !recomputes_up()) return;
  ProgramBuilder& b = *c_.builder;
  b.SetPhase(Phase::kRecompute);
  if (recomputes_up()) {
    if (work.sparse)
      AbsorbedForward(work);
    else
      UpForward(work);
    if (work.rotary) b.Compute(work.rotary->forward);
    if (work.sparse) b.Compute(work.sparse->join.forward);
  }
  if (modules.core_attention) CoreForward(work);
  b.SetPhase(Phase::kBackward);
}

void AttentionWriter::Backward(const AttentionWork& work, int layer) {
  ProgramBuilder& b = *c_.builder;
  if (work.post_norm) {
    b.Compute(work.post_norm->backward);
    listener_->OnGradient(ParameterKind::kPostNorm1, layer);
  }
  listener_->OnGradient(ParameterKind::kProjBias, layer);
  Await(c_.offload, OffloadModule::kProj);
  tensor_.RowBackward(work.proj);
  Behind(c_.offload, OffloadModule::kProj);
  listener_->OnGradient(ParameterKind::kProjWeight, layer);
  listener_->OnGradient(ParameterKind::kProjAdapter, layer);
  if (work.gate) b.Compute(work.gate->backward);
  Await(c_.offload, OffloadModule::kCoreAttention);
  if (recomputes_up()) Await(c_.offload, OffloadModule::kQkv);
  Recompute(work);
  CoreBackward(work, layer);
  Behind(c_.offload, OffloadModule::kCoreAttention);
  listener_->OnGradient(ParameterKind::kSinks, layer);
  if (work.latent && !recomputes_up()) Await(c_.offload, OffloadModule::kQkv);
  if (work.sparse) b.Compute(work.sparse->join.backward);
  if (work.rotary) b.Compute(work.rotary->backward);
  if (!work.latent) Await(c_.offload, OffloadModule::kQkv);
  HeadNormsBackward(work, layer);
  if (repeats_norm(work)) {
    b.SetPhase(Phase::kRecompute);
    b.Compute(work.norm->forward);
    b.SetPhase(Phase::kBackward);
  }
  if (work.latent) {
    LatentBackward(work, layer);
  } else {
    if (work.gathered_width > 0) tensor_.ReduceScatter(work.gathered_width);
    tensor_.ColumnBackward(work.qkv);
    listener_->OnGradient(ParameterKind::kQkvBias, layer);
    listener_->OnGradient(ParameterKind::kQkvWeight, layer);
    listener_->OnGradient(ParameterKind::kQkvAdapter, layer);
  }
  if (work.latent) Behind(c_.offload, OffloadModule::kQkv);
  if (work.norm) b.Compute(work.norm->backward);
  Behind(c_.offload, work.latent ? OffloadModule::kAttentionNorm : OffloadModule::kQkv);
}

void AttentionWriter::HeadNormsBackward(const AttentionWork& work, int layer) {
  for (const auto& norm : {work.k_norm, work.q_norm}) {
    if (!norm) continue;
    if (work.whole_norms) AddSquares();
    c_.builder->Compute(norm->backward);
  }
  if (!work.q_norm) return;
  listener_->OnGradient(ParameterKind::kKNorm, layer);
  listener_->OnGradient(ParameterKind::kQNorm, layer);
}

void AttentionWriter::CoreBackward(const AttentionWork& work, int layer) {
  if (!work.sparse) return core_.Backward(work.core);
  sparse_.AttentionBackward(*work.sparse);
  if (!work.sparse->target) return;
  sparse_.IndexerBackward(*work.sparse);
  for (const ParameterKind kind : {ParameterKind::kIndexHeadWeight, ParameterKind::kIndexKNorm,
                                   ParameterKind::kIndexKWeight, ParameterKind::kIndexQWeight}) {
    listener_->OnGradient(kind, layer);
  }
}

void AttentionWriter::LatentBackward(const AttentionWork& work, int layer) {
  const LatentWork& latent = *work.latent;
  const LatentAttention& shape = c_.job.model.attention.latent;
  ProgramBuilder& b = *c_.builder;
  if (work.sparse) {
    sparse_.AbsorbBackward(*work.sparse);
    if (c_.layout.sequence_parallel) tensor_.ReduceScatter(shape.kv_rank);
  } else {
    tensor_.ColumnBackward(latent.kv_up, shape.kv_rank);
  }
  listener_->OnGradient(ParameterKind::kKvUpWeight, layer);
  b.Compute(latent.kv_norm.backward);
  listener_->OnGradient(ParameterKind::kKvNorm, layer);
  tensor_.ColumnBackward(latent.q_up, latent.q_down ? shape.q_rank : c_.job.model.hidden);
  listener_->OnGradient(ParameterKind::kQUpWeight, layer);
  if (latent.q_norm) {
    b.Compute(latent.q_norm->backward);
    listener_->OnGradient(ParameterKind::kQNorm, layer);
  }
  if (c_.layout.sequence_parallel) tensor_.ReduceScatter(shape.rope_dim);
  tensor_.WholeBackward(latent.kv_down);
  listener_->OnGradient(ParameterKind::kKvDownWeight, layer);
  if (!latent.q_down) return;
  tensor_.WholeBackward(*latent.q_down);
  listener_->OnGradient(ParameterKind::kQDownWeight, layer);
}

}  // namespace drydock
