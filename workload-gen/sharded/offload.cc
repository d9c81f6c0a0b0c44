#include "workload-gen/sharded/offload.h"

#include "workload-gen/sharded/shard_step.h"

namespace drydock {

Offload::OpId Offload::Load(const char* name, int64_t bytes, OpId after) {
  return c_.builder->Move(OpKind::kLoad, {name, MemoryTier::kHost, Bytes(bytes)}, after);
}

Offload::OpId Offload::Store(const char* name, int64_t bytes, OpId after) {
  return c_.builder->Move(OpKind::kStore, {name, MemoryTier::kHost, Bytes(bytes)}, after);
}

void Offload::Work(const char* name, int64_t bytes, OpId after) {
  c_.builder->HostWork({name, MemoryTier::kHost, Bytes(bytes)}, after);
}

void Offload::Step(const char* name, int64_t bytes) {
  c_.builder->WaitForAll();
  Work(name, bytes, ProgramBuilder::kNothing);
}

void ZeroGradientOffload::AfterReduction(int64_t share, ProgramBuilder::OpId reduction) {
  if (!used() || share == 0) return;
  const DataType type = c_.job.training.precision.type;
  const int64_t bytes = share * SizeOf(type).count();
  const bool last = microbatch_ == c_.layout.microbatches - 1;
  const bool partitioned = c_.job.zero.stage == 3;
  // Stage 1 keeps the gradients on the GPU until the last micro-batch.
  const bool sums = c_.layout.microbatches > 1 && c_.job.zero.stage > 1;
  ShardStep kernels(c_);
  if (sums && microbatch_ > 0) {
    offload_.Load("zero.gradients", bytes);
    c_.builder->Compute(AccumulationWork("zero.accumulate", type, false, share, c_.tables));
  }
  if (partitioned || (sums && !last)) offload_.Store("zero.gradients", bytes, reduction);
  if (partitioned && microbatch_ == 0) offload_.Load("zero.gradients", bytes);
  if (!last) return;
  kernels.Compute("optimizer.norm", submodule::GradientNorm{{share}}, type);
  kernels.Compute("optimizer.gradients", submodule::Cast{{share}}, type);
  offload_.Store("zero.fp32-gradients", share * SizeOf(DataType::kFp32).count(), reduction);
}

}  // namespace drydock
