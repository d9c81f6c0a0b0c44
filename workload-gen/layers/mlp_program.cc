#include "workload-gen/layers/mlp_program.h"

namespace drydock {

void MlpWriter::Forward(const MlpWork& work) {
  ProgramBuilder& b = *c_.builder;
  tensor_.ColumnForward(work.fc1);
  b.Compute(work.activation.forward);
  tensor_.RowForward(work.fc2);
}

void MlpWriter::Backward(const MlpWork& work, int layer) {
  ProgramBuilder& b = *c_.builder;
  listener_->OnGradient(ParameterKind::kFc2Bias, layer);
  tensor_.RowBackward(work.fc2);
  listener_->OnGradient(ParameterKind::kFc2Weight, layer);
  listener_->OnGradient(ParameterKind::kFc2Adapter, layer);
  b.Compute(work.activation.backward);
  listener_->OnGradient(ParameterKind::kFc1Bias, layer);
  tensor_.ColumnBackward(work.fc1);
  listener_->OnGradient(ParameterKind::kFc1Weight, layer);
  listener_->OnGradient(ParameterKind::kFc1Adapter, layer);
}

}  // namespace drydock
