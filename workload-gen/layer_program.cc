#include "workload-gen/layer_program.h"

namespace drydock {

CommCall TensorParallel::Call(CollectiveType type) const {
  CommCall call;
  call.collective = type;
  call.type = c_.job.training.precision;
  call.count = c_.ActivationCount();
  call.group_size = c_.layout.tensor;
  return call;
}

ProgramBuilder::OpId TensorParallel::Start(CollectiveType type) {
  return c_.builder->StartCollective(kTensorRole, kTensorStream, Call(type));
}

void TensorParallel::AllGather() { c_.builder->Wait(Start(CollectiveType::kAllGather)); }
void TensorParallel::AllReduce() { c_.builder->Wait(Start(CollectiveType::kAllReduce)); }
void TensorParallel::ReduceScatter() { c_.builder->Wait(Start(CollectiveType::kReduceScatter)); }

void TensorParallel::Enter() {
  if (c_.layout.sequence_parallel) AllGather();
}

void TensorParallel::Leave() {
  if (c_.layout.sequence_parallel)
    ReduceScatter();
  else
    AllReduce();
}

void TensorParallel::WeightGradient(const LinearWork& linear) {
  c_.builder->Compute(linear.weight_gradient);
  if (linear.accumulate) c_.builder->Compute(*linear.accumulate);
}

void TensorParallel::ColumnBackward(const LinearWork& linear) {
  const bool split = c_.layout.sequence_parallel;
  const bool overlap = c_.job.overlap.tensor_backward;
  ProgramBuilder::OpId gather = ProgramBuilder::kNothing;
  if (split) gather = Start(CollectiveType::kAllGather);
  if (!overlap) c_.builder->Wait(gather);
  c_.builder->Compute(linear.activation_gradient);
  if (!overlap) {
    WeightGradient(linear);
    Leave();
    return;
  }
  const ProgramBuilder::OpId sum =
      Start(split ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce);
  c_.builder->Wait(gather);
  WeightGradient(linear);
  c_.builder->Wait(sum);
}

void TensorParallel::RowBackward(const LinearWork& linear) {
  Enter();
  c_.builder->Compute(linear.activation_gradient);
  WeightGradient(linear);
}

void LayerWriter::Forward() {
  const LayerWork& w = c_.work.layer;
  ProgramBuilder& b = *c_.builder;
  b.Compute(w.norm1.forward);
  tensor_.Enter();
  b.Compute(w.qkv.forward);
  if (w.has_rotary) b.Compute(w.rotary.forward);
  b.Compute(w.attention.forward);
  b.Compute(w.proj.forward);
  tensor_.Leave();
  b.Compute(w.residual1.forward);
  b.Compute(w.norm2.forward);
  tensor_.Enter();
  b.Compute(w.fc1.forward);
  b.Compute(w.activation.forward);
  b.Compute(w.fc2.forward);
  tensor_.Leave();
  b.Compute(w.residual2.forward);
}

void LayerWriter::Backward(int layer) {
  MlpBackward(layer);
  AttentionBackward(layer);
}

void LayerWriter::MlpBackward(int layer) {
  const LayerWork& w = c_.work.layer;
  ProgramBuilder& b = *c_.builder;
  if (w.residual_backward) b.Compute(w.residual2.backward);
  listener_->OnGradient(ParameterKind::kFc2Bias, layer);
  tensor_.RowBackward(w.fc2);
  listener_->OnGradient(ParameterKind::kFc2Weight, layer);
  b.Compute(w.activation.backward);
  listener_->OnGradient(ParameterKind::kFc1Bias, layer);
  tensor_.ColumnBackward(w.fc1);
  listener_->OnGradient(ParameterKind::kFc1Weight, layer);
  b.Compute(w.norm2.backward);
  b.Compute(w.residual_gradient);
  listener_->OnGradient(ParameterKind::kNorm2Bias, layer);
  listener_->OnGradient(ParameterKind::kNorm2Weight, layer);
}

void LayerWriter::AttentionBackward(int layer) {
  const LayerWork& w = c_.work.layer;
  ProgramBuilder& b = *c_.builder;
  if (w.residual_backward) b.Compute(w.residual1.backward);
  listener_->OnGradient(ParameterKind::kProjBias, layer);
  tensor_.RowBackward(w.proj);
  listener_->OnGradient(ParameterKind::kProjWeight, layer);
  if (c_.job.training.recompute == Recompute::kSelective) {
    b.SetPhase(Phase::kRecompute);
    b.Compute(w.attention.forward);
    b.SetPhase(Phase::kBackward);
  }
  b.Compute(w.attention.backward);
  if (w.has_rotary) b.Compute(w.rotary.backward);
  tensor_.ColumnBackward(w.qkv);
  listener_->OnGradient(ParameterKind::kQkvBias, layer);
  listener_->OnGradient(ParameterKind::kQkvWeight, layer);
  b.Compute(w.norm1.backward);
  b.Compute(w.residual_gradient);
  listener_->OnGradient(ParameterKind::kNorm1Bias, layer);
  listener_->OnGradient(ParameterKind::kNorm1Weight, layer);
}

}  // namespace drydock
