// The transfers and the host work of offloaded states under ZeRO and FSDP. Byte counts assume that
// each operand is read or written once.
//
//   FSDP (_fsdp_param.py, _fsdp_collectives.py; CPUOffloadPolicy): A group's fp32 share is loaded
//   before its all-gather, and the reduced fp32 gradient is stored. If an earlier micro-batch has
//   stored a gradient, the host waits and adds the two. Norm, clipping and Adam run on the host.
//   ZeRO 1 and 2 (stage_1_and_2.py, offload_optimizer): The rank's part of each reduced bucket is
//   stored. With several micro-batches, the sum is loaded, increased and stored again; the final
//   sum is stored in fp32. The host unscales, updates and casts its share, which is then loaded.
//   ZeRO 3 (stage3.py): The same for each sub-group, and the sum passes through the GPU after each
//   micro-batch. With offload_param, a share is loaded before each all-gather, and the updated
//   parameters stay on the host.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_OFFLOAD_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_OFFLOAD_H_

#include "workload-gen/program/program_builder.h"
#include "workload-gen/program/writer_context.h"

namespace drydock {

// The host's memory traffic per element, by operation.
inline constexpr int64_t kHostNormBytes = 4;   // reads an fp32 gradient
inline constexpr int64_t kHostScaleBytes = 8;  // reads and writes it
inline constexpr int64_t kHostAddBytes = 12;   // reads two gradients and writes one
inline constexpr int64_t kHostAdamBytes = 28;  // reads a gradient, updates parameter and moments
inline constexpr int64_t kHostCastBytes = 6;   // reads fp32, writes 16 bits

class Offload {
 public:
  using OpId = ProgramBuilder::OpId;

  explicit Offload(const WriterContext& context) : c_(context) {}

  // These run beside compute, after `after` and the previous transfer of the same direction.
  OpId Load(const char* name, int64_t bytes, OpId after = ProgramBuilder::kNothing);
  OpId Store(const char* name, int64_t bytes, OpId after = ProgramBuilder::kNothing);
  // The host works after `after` has ended. Compute does not wait.
  void Work(const char* name, int64_t bytes, OpId after);
  // The host works after all earlier ops have ended: a part of the optimizer's step.
  void Step(const char* name, int64_t bytes);

 private:
  const WriterContext& c_;
};

// Moves ZeRO's gradients to the host.
class ZeroGradientOffload {
 public:
  explicit ZeroGradientOffload(const WriterContext& context) : c_(context), offload_(context) {}

  bool used() const { return c_.job.zero.offload_optimizer; }
  void BeginMicrobatch(int microbatch) { microbatch_ = microbatch; }
  // `share` elements of this rank are reduced when `reduction` ends.
  void AfterReduction(int64_t share, ProgramBuilder::OpId reduction);

 private:
  const WriterContext& c_;
  Offload offload_;
  int microbatch_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_OFFLOAD_H_
