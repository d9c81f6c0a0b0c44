#include "workload-gen/program/tensor_parallel.h"

#include "workload-gen/program/ring_shift.h"
#include "workload-gen/work/adapter_work.h"

namespace drydock {

ProgramBuilder::OpId TensorParallel::Start(CollectiveType type, int64_t width,
                                           const WireFormat& data, bool userbuffers) {
  CommCall call;
  call.collective = type;
  call.type = data.type;
  call.count = data.CountOf(c_.work.rows * width, c_.layout.tensor);
  call.group_size = c_.layout.tensor;
  if (userbuffers) call.buffers = BufferKind::kUserBuffers;
  return c_.builder->StartCollective(kTensorRole, kTensorStream, call);
}

ProgramBuilder::OpId TensorParallel::Start(CollectiveType type, int64_t width) {
  return Start(type, width, {c_.job.training.precision.type}, /*userbuffers=*/false);
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

void TensorParallel::ComputeIfAny(const std::optional<uint32_t>& submodule) {
  if (submodule) c_.builder->Compute(*submodule);
}

void TensorParallel::ReduceScale(const LinearWork& linear) {
  if (!linear.reduces_scale) return;
  CommCall scale;
  scale.type = DataType::kFp32;
  scale.op = ReduceOp::kMax;
  scale.count = 1;
  scale.group_size = c_.layout.tensor;
  c_.builder->Collective(kTensorRole, kTensorStream, scale);
}

ProgramBuilder::OpId TensorParallel::StartInput(const LinearWork& linear, int64_t width) {
  if (!c_.layout.sequence_parallel) return ProgramBuilder::kNothing;
  ReduceScale(linear);
  ComputeIfAny(linear.input_cast);
  return Start(CollectiveType::kAllGather, width, linear.gathered, /*userbuffers=*/false);
}

void TensorParallel::EnterInput(const LinearWork& linear, int64_t width) {
  c_.builder->Wait(StartInput(linear, width));
}

void TensorParallel::Leave() {
  if (c_.layout.sequence_parallel)
    ReduceScatter();
  else
    AllReduce();
}

void TensorParallel::RunParts(const PartWork& parts, const std::function<void(int)>& after) {
  ProgramBuilder& b = *c_.builder;
  b.Flush();
  for (int part = 0; part < parts.count; ++part) {
    b.Compute(parts.submodule);
    b.Flush();
    b.SetLoop(true);
    after(part);
  }
}

// CommOverlapP2PBase::split_overlap_ag: each step of the ring follows the previous step,
// independently of the GEMMs; each GEMM waits for its rows.
void TensorParallel::GatherBetween(const PartWork& parts, const WireFormat& data) {
  ProgramBuilder& b = *c_.builder;
  const ProgramBuilder::Point entered = b.Here();
  const CommCall step = RingShift(parts.count, data.type,
                                  data.CountOf(c_.work.rows / parts.count * c_.job.model.hidden),
                                  /*hop=*/1, BufferKind::kUserBuffers);
  RunParts(parts, [&](int part) {
    if (part + 1 == parts.count) return;
    b.Wait(b.StartBehind(part == 0 ? entered : ProgramBuilder::Point(), kTensorRole, kTensorStream,
                         step));
  });
  b.SetLoop(false);
}

// CommOverlapBase::split_overlap_rs.
void TensorParallel::ScatterBetween(const PartWork& parts) {
  ProgramBuilder& b = *c_.builder;
  ProgramBuilder::OpId left = ProgramBuilder::kNothing;
  RunParts(parts, [&](int) {
    left = Start(CollectiveType::kReduceScatter, c_.job.model.hidden / parts.count,
                 {c_.job.training.precision.type}, /*userbuffers=*/true);
  });
  b.SetLoop(false);
  b.Wait(left);
}

// CommOverlapP2PBase::split_overlap_rs.
void TensorParallel::SendBetween(const PartWork& parts, uint32_t sum) {
  ProgramBuilder& b = *c_.builder;
  const int64_t count = c_.work.rows / parts.count * c_.job.model.hidden;
  ProgramBuilder::OpId left = ProgramBuilder::kNothing;
  RunParts(parts, [&](int part) {
    if (part + 1 == parts.count) return;
    left = b.StartCollective(kTensorRole, kTensorStream,
                             RingShift(parts.count, c_.job.training.precision.type, count,
                                       /*hop=*/part + 1, BufferKind::kUserBuffers));
  });
  b.Wait(left);
  b.Compute(sum);
  b.Flush();
  b.SetLoop(false);
}

void TensorParallel::ColumnForward(const LinearWork& linear) {
  if (linear.forward_parts.count > 0) {
    ReduceScale(linear);
    ComputeIfAny(linear.input_cast);
    GatherBetween(linear.forward_parts, linear.gathered);
  } else {
    EnterInput(linear, c_.job.model.hidden);
    c_.builder->Compute(linear.forward);
  }
  if (linear.adapter) ColumnAdapterForward(linear);
}

void TensorParallel::RowForward(const LinearWork& linear) {
  const PartWork& parts = linear.forward_parts;
  if (parts.count == 0) {
    c_.builder->Compute(linear.forward);
    Leave();
  } else {
    ComputeIfAny(linear.input_cast);
    if (linear.sum)
      SendBetween(parts, *linear.sum);
    else
      ScatterBetween(parts);
  }
  if (linear.adapter) RowAdapterForward(*linear.adapter);
}

void TensorParallel::Across(CollectiveType type, int64_t width) {
  if (c_.layout.tensor > 1) c_.builder->Wait(Start(type, width));
}

void TensorParallel::ExchangeRows() {
  CommCall call;
  call.collective = CollectiveType::kAllToAll;
  call.type = c_.job.training.precision.type;
  call.count = c_.work.rows * c_.job.model.hidden / c_.layout.tensor;
  call.group_size = c_.layout.tensor;
  c_.builder->Wait(c_.builder->StartCollective(kTensorRole, kTensorStream, call));
}

// Transformer Engine hands on the gathered rows of its norm, except where userbuffers gathered
// them.
void TensorParallel::ColumnAdapterForward(const LinearWork& linear) {
  const AdapterWork& adapter = *linear.adapter;
  if (linear.userbuffers) Enter();
  if (adapter.dropout) c_.builder->Compute(adapter.dropout->forward);
  c_.builder->Compute(adapter.in.forward);
  Across(CollectiveType::kAllGather, c_.job.model.lora.rank);
  c_.builder->Compute(adapter.out.forward);
  c_.builder->Compute(adapter.scale.forward);
  c_.builder->Compute(adapter.sum.forward);
}

void TensorParallel::RowAdapterForward(const AdapterWork& adapter) {
  if (adapter.dropout) c_.builder->Compute(adapter.dropout->forward);
  c_.builder->Compute(adapter.in.forward);
  Across(CollectiveType::kAllReduce, c_.job.model.lora.rank);
  c_.builder->Compute(adapter.out.forward);
  if (c_.job.model.lora.all_to_all)
    ExchangeRows();
  else
    Across(CollectiveType::kAllGather, c_.job.model.hidden);
  c_.builder->Compute(adapter.scale.forward);
  c_.builder->Compute(adapter.sum.forward);
}

// The gradient between the two products is summed over the ranks, which split the second.
void TensorParallel::AdapterBackward(const AdapterWork& adapter) {
  c_.builder->Compute(adapter.out.activation_gradient);
  ProgramBuilder::OpId sum = ProgramBuilder::kNothing;
  if (c_.layout.tensor > 1) sum = Start(CollectiveType::kAllReduce, c_.job.model.lora.rank);
  WeightGradient(adapter.out, ProgramBuilder::kNothing);
  c_.builder->Wait(sum);
  c_.builder->Compute(adapter.in.activation_gradient);
  WeightGradient(adapter.in, ProgramBuilder::kNothing);
  if (adapter.dropout) c_.builder->Compute(adapter.dropout->backward);
}

void TensorParallel::ColumnAdapterBackward(const LinearWork& linear) {
  const AdapterWork& adapter = *linear.adapter;
  c_.builder->Compute(adapter.scale.backward);
  AdapterBackward(adapter);
  if (!c_.layout.sequence_parallel)
    Across(CollectiveType::kAllReduce, adapter.width);
  else if (linear.userbuffers)
    ReduceScatter(adapter.width);
}

void TensorParallel::RowAdapterBackward(const AdapterWork& adapter) {
  c_.builder->Compute(adapter.scale.backward);
  if (c_.job.model.lora.all_to_all)
    ExchangeRows();
  else
    Enter();
  AdapterBackward(adapter);
}

void TensorParallel::WeightGradient(const LinearWork& linear, ProgramBuilder::OpId after) {
  if (linear.frozen) return c_.builder->Wait(after);
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
  const OverlapRules& overlap = c_.job.overlap;
  const WireFormat data = {c_.job.training.precision.type};
  const bool bulk_in = linear.userbuffers && overlap.tensor_bulk_dgrad;
  const bool bulk_out = linear.userbuffers && overlap.tensor_bulk_wgrad && !linear.frozen;
  const CollectiveType out = split ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce;
  ProgramBuilder::OpId gather = ProgramBuilder::kNothing;
  if (linear.adapter) ColumnAdapterBackward(linear);
  // Only the gradient of the weight reads the input.
  if (split && !linear.frozen) {
    gather = Start(CollectiveType::kAllGather, width, linear.gathered, bulk_in);
  }
  if (!overlap.tensor_backward && !bulk_in) c_.builder->Wait(gather);
  c_.builder->Compute(linear.activation_gradient);
  const bool joins = linear.adapter && !(split && linear.userbuffers);
  if (joins) c_.builder->Compute(linear.adapter->sum.backward);
  if (!overlap.tensor_backward && !bulk_out) {
    WeightGradient(linear, gather);
    c_.builder->Wait(Start(out, width));
    if (linear.adapter && !joins) c_.builder->Compute(linear.adapter->split);
    return;
  }
  const ProgramBuilder::OpId sum = Start(out, width, data, bulk_out);
  WeightGradient(linear, gather);
  c_.builder->Wait(sum);
  if (linear.adapter && !joins) c_.builder->Compute(linear.adapter->split);
}

void TensorParallel::RowBackward(const LinearWork& linear) {
  if (linear.adapter) RowAdapterBackward(*linear.adapter);
  RowBaseBackward(linear);
  if (linear.adapter) c_.builder->Compute(linear.adapter->sum.backward);
}

void TensorParallel::RowBaseBackward(const LinearWork& linear) {
  ReduceScale(linear);
  ComputeIfAny(linear.gradient_cast);
  if (linear.gradient_parts.count > 0) {
    GatherBetween(linear.gradient_parts, linear.gathered);
    return WeightGradient(linear, ProgramBuilder::kNothing);
  }
  if (c_.layout.sequence_parallel) {
    c_.builder->Wait(Start(CollectiveType::kAllGather, c_.job.model.hidden, linear.gathered,
                           /*userbuffers=*/false));
  }
  WholeBackward(linear);
}

void TensorParallel::WholeBackward(const LinearWork& linear) {
  c_.builder->Compute(linear.activation_gradient);
  WeightGradient(linear, ProgramBuilder::kNothing);
}

}  // namespace drydock
