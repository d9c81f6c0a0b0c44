#include "workload-gen/tensor_parallel.h"

namespace drydock {

ProgramBuilder::OpId TensorParallel::Start(CollectiveType type, int64_t width) {
  CommCall call;
  call.collective = type;
  call.type = c_.job.training.precision;
  call.count = c_.work.rows * width;
  call.group_size = c_.layout.tensor;
  return c_.builder->StartCollective(kTensorRole, kTensorStream, call);
}

ProgramBuilder::OpId TensorParallel::Start(CollectiveType type) {
  return Start(type, c_.job.model.hidden);
}

void TensorParallel::AllGather() { c_.builder->Wait(Start(CollectiveType::kAllGather)); }
void TensorParallel::AllReduce() { c_.builder->Wait(Start(CollectiveType::kAllReduce)); }
void TensorParallel::ReduceScatter() { ReduceScatter(c_.job.model.hidden); }
void TensorParallel::ReduceScatter(int64_t width) {
  c_.builder->Wait(Start(CollectiveType::kReduceScatter, width));
}

void TensorParallel::Enter() { Enter(c_.job.model.hidden); }

void TensorParallel::Enter(int64_t width) {
  if (!c_.layout.sequence_parallel) return;
  c_.builder->Wait(Start(CollectiveType::kAllGather, width));
}

void TensorParallel::Leave() {
  if (c_.layout.sequence_parallel)
    ReduceScatter();
  else
    AllReduce();
}

void TensorParallel::ColumnForward(const LinearWork& linear) {
  Enter();
  c_.builder->Compute(linear.forward);
}

void TensorParallel::RowForward(const LinearWork& linear) {
  c_.builder->Compute(linear.forward);
  Leave();
}

void TensorParallel::WeightGradient(const LinearWork& linear, ProgramBuilder::OpId after) {
  if (c_.weights != nullptr && c_.weights->Take(linear.weight_gradient, after)) {
    if (linear.accumulate) c_.weights->Take(*linear.accumulate, ProgramBuilder::kNothing);
    return;
  }
  c_.builder->Wait(after);
  c_.builder->Compute(linear.weight_gradient);
  if (linear.accumulate) c_.builder->Compute(*linear.accumulate);
}

void TensorParallel::ColumnBackward(const LinearWork& linear) {
  ColumnBackward(linear, c_.job.model.hidden);
}

void TensorParallel::ColumnBackward(const LinearWork& linear, int64_t width) {
  const bool split = c_.layout.sequence_parallel;
  const bool overlap = c_.job.overlap.tensor_backward;
  const CollectiveType out = split ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce;
  ProgramBuilder::OpId gather = ProgramBuilder::kNothing;
  if (split) gather = Start(CollectiveType::kAllGather, width);
  if (!overlap) c_.builder->Wait(gather);
  c_.builder->Compute(linear.activation_gradient);
  if (!overlap) {
    WeightGradient(linear, ProgramBuilder::kNothing);
    c_.builder->Wait(Start(out, width));
    return;
  }
  const ProgramBuilder::OpId sum = Start(out, width);
  WeightGradient(linear, gather);
  c_.builder->Wait(sum);
}

void TensorParallel::RowBackward(const LinearWork& linear) {
  Enter();
  WholeBackward(linear);
}

void TensorParallel::WholeBackward(const LinearWork& linear) {
  c_.builder->Compute(linear.activation_gradient);
  WeightGradient(linear, ProgramBuilder::kNothing);
}

}  // namespace drydock
