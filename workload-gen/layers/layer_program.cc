#include "workload-gen/layers/layer_program.h"

#include "workload-gen/program/module_offload.h"

namespace drydock {

void LayerWriter::Forward(int layer) {
  const LayerWork& w = c_.work.LayerOf(layer);
  ProgramBuilder& b = *c_.builder;
  MixerForward(w);
  if (w.has_mlp()) {
    b.SetRegion(w.experts ? LayerRegion::kRouter : LayerRegion::kMlp);
    if (w.norm2) b.Compute(w.norm2->forward);
    MlpForward(w);
    LeaveForward(w);
  }
  b.SetRegion(LayerRegion::kOutside);
}

void LayerWriter::Backward(int layer) {
  const LayerWork& w = c_.work.LayerOf(layer);
  if (w.has_mlp()) MlpBackward(w, layer);
  MixerBackward(w, layer);
  c_.builder->SetRegion(LayerRegion::kOutside);
}

void LayerWriter::Forward(int layer, LayerPiece piece) {
  WriteForward(c_.work.LayerOf(layer), piece);
  c_.builder->SetRegion(LayerRegion::kOutside);
}

void LayerWriter::Backward(int layer, LayerPiece piece) {
  WriteBackward(c_.work.LayerOf(layer), layer, piece);
  c_.builder->SetRegion(LayerRegion::kOutside);
}

void LayerWriter::WriteForward(const LayerWork& w, LayerPiece piece) {
  ProgramBuilder& b = *c_.builder;
  switch (piece) {
    case LayerPiece::kAttention:
      MixerForward(w);
      if (!w.experts) return;
      b.SetRegion(LayerRegion::kRouter);
      b.Compute(w.norm2->forward);
      return experts_.PrepareForward(*w.experts);
    case LayerPiece::kDispatch:
      b.SetRegion(LayerRegion::kExperts);
      return experts_.DispatchForward(*w.experts);
    case LayerPiece::kMlp:
      b.SetRegion(w.experts ? LayerRegion::kExperts : LayerRegion::kMlp);
      if (w.experts) return experts_.ComputeForward(*w.experts);
      if (w.norm2) b.Compute(w.norm2->forward);
      mlp_.Forward(*w.mlp);
      return LeaveForward(w);
    case LayerPiece::kCombine:
      b.SetRegion(LayerRegion::kExperts);
      experts_.CombineForward(*w.experts);
      return LeaveForward(w);
  }
}

void LayerWriter::WriteBackward(const LayerWork& w, int layer, LayerPiece piece) {
  switch (piece) {
    case LayerPiece::kCombine:
      EnterBackward(w, layer);
      return experts_.UndoCombine(*w.experts);
    case LayerPiece::kMlp:
      if (!w.experts) return MlpBackward(w, layer);
      c_.builder->SetRegion(LayerRegion::kExperts);
      RecomputeMlp(w);
      return experts_.UndoCompute(*w.experts, layer);
    case LayerPiece::kDispatch:
      c_.builder->SetRegion(LayerRegion::kExperts);
      return experts_.UndoDispatch(*w.experts);
    case LayerPiece::kAttention:
      if (w.experts) {
        experts_.UndoPrepare(*w.experts, layer);
        NormBackward(w, layer);
      }
      return MixerBackward(w, layer);
  }
}

void LayerWriter::LeaveForward(const LayerWork& work) {
  if (work.post_norm2) c_.builder->Compute(work.post_norm2->forward);
  c_.builder->Compute(work.residual2.forward);
  Leave(c_.offload, OffloadModule::kMlpNorm);
}

void LayerWriter::MlpForward(const LayerWork& work) {
  if (work.experts)
    experts_.Forward(*work.experts);
  else
    mlp_.Forward(*work.mlp);
}

// Transformer Engine fuses the norm before a dense MLP with the product behind it, so that there is
// no norm to repeat.
bool LayerWriter::RepeatsNorm(const LayerWork& work) const {
  if (!c_.job.training.recompute.modules.norms || !work.norm2) return false;
  return work.experts ? c_.job.may_repeat_expert_norm() : !c_.job.training.kernels.fused;
}

// Repeats the part of the MLP's forward that was not kept: the norm, or all of it.
void LayerWriter::RecomputeMlp(const LayerWork& work) {
  const RecomputeModules& modules = c_.job.training.recompute.modules;
  const bool whole = work.experts ? modules.moe : modules.mlp;
  const bool norm = RepeatsNorm(work);
  if (!whole && !norm) return;
  c_.builder->SetPhase(Phase::kRecompute);
  if (norm) c_.builder->Compute(work.norm2->forward);
  if (whole) MlpForward(work);
  c_.builder->SetPhase(Phase::kBackward);
}

void LayerWriter::EnterBackward(const LayerWork& work, int layer) {
  ProgramBuilder& b = *c_.builder;
  b.SetRegion(work.experts ? LayerRegion::kExperts : LayerRegion::kMlp);
  Await(c_.offload, OffloadModule::kMlpNorm);
  if (work.residual_backward) b.Compute(work.residual2.backward);
  if (!work.post_norm2) return;
  b.Compute(work.post_norm2->backward);
  listener_->OnGradient(ParameterKind::kPostNorm2, layer);
}

void LayerWriter::MlpBackward(const LayerWork& work, int layer) {
  EnterBackward(work, layer);
  RecomputeMlp(work);
  if (work.experts)
    experts_.Backward(*work.experts, layer);
  else
    mlp_.Backward(*work.mlp, layer);
  NormBackward(work, layer);
}

void LayerWriter::NormBackward(const LayerWork& work, int layer) {
  ProgramBuilder& b = *c_.builder;
  if (work.norm2) b.Compute(work.norm2->backward);
  Behind(c_.offload, OffloadModule::kMlpNorm);
  b.Compute(work.residual_gradient);
  listener_->OnGradient(ParameterKind::kNorm2Bias, layer);
  listener_->OnGradient(ParameterKind::kNorm2Weight, layer);
}

void LayerWriter::MixerForward(const LayerWork& work) {
  ProgramBuilder& b = *c_.builder;
  if (work.scan) {
    b.SetRegion(work.scan_region);
    scan_.Forward(*work.scan);
  }
  if (!work.attention) return;
  b.SetRegion(LayerRegion::kAttention);
  attention_.Forward(*work.attention);
}

void LayerWriter::MixerBackward(const LayerWork& work, int layer) {
  if (!work.attention && !work.scan) return;
  ProgramBuilder& b = *c_.builder;
  b.SetRegion(work.scan ? work.scan_region : LayerRegion::kAttention);
  Await(c_.offload, OffloadModule::kAttentionNorm);
  const ForwardBackwardWork& residual = work.scan ? work.scan->residual : work.attention->residual;
  if (work.residual_backward) b.Compute(residual.backward);
  if (work.scan)
    scan_.Backward(*work.scan, layer);
  else
    attention_.Backward(*work.attention, layer);
  b.Compute(work.residual_gradient);
  listener_->OnGradient(ParameterKind::kNorm1Bias, layer);
  listener_->OnGradient(ParameterKind::kNorm1Weight, layer);
}

}  // namespace drydock
