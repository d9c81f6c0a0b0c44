#include "workload-gen/layers/shared_expert_program.h"

namespace drydock {

void SharedExpertWriter::Forward(const SharedExpertWork& shared) {
  if (shared.mlp.fc1.userbuffers) {
    if (shared.gate) c_.builder->Compute(shared.gate->forward);
    tensor_.ColumnForward(shared.mlp.fc1);
    c_.builder->Compute(shared.mlp.activation.forward);
    return tensor_.RowForward(shared.mlp.fc2);
  }
  Input(shared, Enter(shared));
  c_.builder->Wait(Output(shared));
}

ProgramBuilder::OpId SharedExpertWriter::Enter(const SharedExpertWork& shared) {
  return tensor_.StartInput(shared.mlp.fc1, c_.job.model.hidden);
}

void SharedExpertWriter::Input(const SharedExpertWork& shared, OpId entered) {
  ProgramBuilder& b = *c_.builder;
  if (shared.gate) b.Compute(shared.gate->forward);
  b.Wait(entered);
  b.Compute(shared.mlp.fc1.forward);
  b.Compute(shared.mlp.activation.forward);
}

ProgramBuilder::OpId SharedExpertWriter::Output(const SharedExpertWork& shared) {
  c_.builder->Compute(shared.mlp.fc2.forward);
  return tensor_.Start(c_.layout.sequence_parallel ? CollectiveType::kReduceScatter
                                                   : CollectiveType::kAllReduce);
}

void SharedExpertWriter::OutputBackward(const SharedExpertWork& shared, int layer) {
  ProgramBuilder& b = *c_.builder;
  if (c_.job.training.recompute.modules.shared_experts) {
    b.SetPhase(Phase::kRecompute);
    Forward(shared);
    b.SetPhase(Phase::kBackward);
  }
  if (shared.gate) {
    tensor_.WholeBackward(*shared.gate);
    listener_->OnGradient(ParameterKind::kSharedGate, layer);
  }
  tensor_.RowBackward(shared.mlp.fc2);
  listener_->OnGradient(ParameterKind::kSharedFc2Weight, layer);
  b.Compute(shared.mlp.activation.backward);
}

void SharedExpertWriter::InputBackward(const SharedExpertWork& shared, int layer) {
  tensor_.ColumnBackward(shared.mlp.fc1);
  listener_->OnGradient(ParameterKind::kSharedFc1Weight, layer);
}

}  // namespace drydock
