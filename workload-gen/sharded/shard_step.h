// The end of an iteration with sharded parameters: the norm of all gradients, clipping, Adam over
// the rank's share, and the mean of the loss.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_STEP_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_STEP_H_

#include "workload-gen/program/writer_context.h"

namespace drydock {

// Returns the work that adds `elements` gradients of type `type` to those of earlier micro-batches.
uint32_t AccumulationWork(const char* name, DataType type, bool into_fp32, int64_t elements,
                          WorkTables* tables);

class ShardStep {
 public:
  explicit ShardStep(const WriterContext& context) : c_(context) {}

  // Reduces one number over the ranks that together hold one model: over `role` (of `size`
  // members), then over tensor and pipeline parallelism.
  void AllReduceOverModel(Role role, Stream stream, int size, DataType type, ReduceOp op);
  void Compute(const char* name, const SubmoduleWork& work, DataType type);
  // Averages the loss over data parallelism.
  void Loss();

 private:
  void AllReduce(Role role, Stream stream, int size, DataType type, ReduceOp op);
  const WriterContext& c_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_STEP_H_
