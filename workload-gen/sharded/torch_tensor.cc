#include "workload-gen/sharded/torch_tensor.h"

#include "workload-gen/program/ring_shift.h"

namespace drydock {

// The largest value of a tensor that is split over the ranks is the largest of all parts.
void TorchTensor::Cast(const ScaledCast& cast) {
  if (cast.scale) c_.builder->Compute(*cast.scale);
  if (cast.reduced) {
    CommCall largest;
    largest.type = DataType::kFp32;
    largest.op = ReduceOp::kMax;
    largest.count = 1;
    largest.group_size = c_.layout.tensor;
    c_.builder->Collective(kTensorRole, kTensorStream, largest);
  }
  if (cast.cast) c_.builder->Compute(*cast.cast);
}

void TorchTensor::Copy(const char* name, int64_t count, DataType type) {
  const DataType model = c_.job.training.precision.type;
  const int64_t elements = count * SizeOf(type).count() / SizeOf(model).count();
  c_.builder->Compute(StepWork(name, submodule::GradientScale{{elements}}, model, c_.tables));
}

void TorchTensor::Order(DataType type) { Copy("tensor.order", c_.ActivationCount(), type); }

void TorchTensor::Gather(DataType type) {
  CommCall call;
  call.collective = CollectiveType::kAllGather;
  call.type = type;
  call.count = c_.ActivationCount();
  call.group_size = c_.layout.tensor;
  c_.builder->Collective(kTensorRole, kTensorStream, call);
  Order(type);
}

void TorchTensor::Scatter() {
  Order(c_.job.training.precision.type);
  CommCall call;
  call.collective = CollectiveType::kReduceScatter;
  call.type = c_.job.training.precision.type;
  call.count = c_.ActivationCount();
  call.group_size = c_.layout.tensor;
  c_.builder->Collective(kTensorRole, kTensorStream, call);
}

CommCall TorchTensor::Copies(DataType type, int hop) const {
  return RingShift(c_.layout.tensor, type, c_.ActivationCount() / c_.layout.tensor, hop,
                   BufferKind::kUserBuffers);
}

// _pipelined_multi_all_gather_and_consume: each rank copies its rows to where the others fetch
// them. The fetches follow one another, independently of the products. The product of the weight's
// gradient uses all rows, in order.
void TorchTensor::GatherBetween(const std::vector<uint32_t>& parts, DataType type) {
  ProgramBuilder& b = *c_.builder;
  Copy("tensor.publish", c_.ActivationCount() / c_.layout.tensor, type);
  const ProgramBuilder::Point entered = b.Here();
  b.Flush();
  for (int step = 1; step <= c_.layout.tensor; ++step) {
    for (const uint32_t part : parts) b.Compute(part);
    b.Flush();
    if (step == c_.layout.tensor) break;
    b.Wait(b.StartBehind(step == 1 ? entered : ProgramBuilder::Point(), kTensorRole, kTensorStream,
                         Copies(type, step)));
  }
  if (b.phase() != Phase::kForward) Order(type);
}

// _pipelined_produce_and_all2all.
void TorchTensor::ScatterBetween(uint32_t part, uint32_t sum) {
  ProgramBuilder& b = *c_.builder;
  ProgramBuilder::OpId left = ProgramBuilder::kNothing;
  b.Flush();
  for (int step = 1; step <= c_.layout.tensor; ++step) {
    b.Compute(part);
    b.Flush();
    if (step == c_.layout.tensor) break;
    left =
        b.StartCollective(kTensorRole, kTensorStream, Copies(c_.job.training.precision.type, step));
  }
  b.Wait(left);
  b.Compute(sum);
}

}  // namespace drydock
