#include "workload-gen/layers/mtp_program.h"

namespace drydock {

void MtpWriter::Forward(int k) {
  EnterForward(k);
  layers_->Forward(LayerOf(k));
  LeaveForward(k);
}

void MtpWriter::EnterForward(int) {
  edges_->EmbeddingForward();
  JoinForward(*c_.work.mtp);
}

void MtpWriter::LeaveForward(int) { c_.builder->Compute(c_.work.mtp->final_norm.forward); }

// Every tensor rank gathers the columns of the joined rows and continues with its own rows.
void MtpWriter::JoinForward(const MtpWork& work) {
  ProgramBuilder& b = *c_.builder;
  b.Compute(work.token_norm.forward);
  b.Compute(work.hidden_norm.forward);
  tensor_.Enter(2 * c_.job.model.hidden);
  b.Compute(work.join.forward);
  tensor_.AllGather();
}

void MtpWriter::Backward(int k) {
  ProgramBuilder& b = *c_.builder;
  const int layer = LayerOf(k);
  LeaveBackward(k);
  if (c_.RepeatsLayer(layer, b.place().chunk)) {
    b.SetPhase(Phase::kRecompute);
    JoinForward(*c_.work.mtp);
    layers_->Forward(layer);
    b.SetPhase(Phase::kBackward);
  }
  layers_->Backward(layer);
  EnterBackward(k);
}

void MtpWriter::LeaveBackward(int k) {
  c_.builder->Compute(c_.work.mtp->final_norm.backward);
  listener_->OnGradient(ParameterKind::kMtpFinalNorm, LayerOf(k));
}

void MtpWriter::EnterBackward(int k) {
  const MtpWork& w = *c_.work.mtp;
  ProgramBuilder& b = *c_.builder;
  const int layer = LayerOf(k);
  JoinBackward(w);
  listener_->OnGradient(ParameterKind::kMtpJoin, layer);
  b.Compute(w.hidden_norm.backward);
  listener_->OnGradient(ParameterKind::kMtpHiddenNorm, layer);
  b.Compute(w.token_norm.backward);
  listener_->OnGradient(ParameterKind::kMtpTokenNorm, layer);
  edges_->LookupBackward();
}

void MtpWriter::JoinBackward(const MtpWork& work) {
  tensor_.Enter();  // the rows that each rank continued with
  tensor_.ColumnBackward(work.join, 2 * c_.job.model.hidden);
}

}  // namespace drydock
