// What ZeRO and FSDP move between the GPU and its host where states are offloaded, and what the
// host does with them. Bytes are counted as each operand is read or written once.
//
//   FSDP (_fsdp_param.py, _fsdp_collectives.py; CPUOffloadPolicy): a group's fp32 share is loaded
//   before its all-gather; the reduced fp32 gradient is stored, and where there is one of an
//   earlier micro-batch the host waits for it and adds the two; norm, clipping and Adam run on the
//   host. ZeRO 1 and 2 (stage_1_and_2.py, offload_optimizer): the rank's part of every reduced
//   bucket is stored; of several micro-batches the sum is loaded, added to and stored again. The
//   last goes in fp32. The host unscales, updates and casts its share, which is then loaded. ZeRO 3
//   (stage3.py): the same, sub-group by sub-group, and the sum passes through the GPU after every
//   micro-batch; with offload_param a share is loaded before each all-gather, and updated
//   parameters stay where they are.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_OFFLOAD_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_OFFLOAD_H_

#include "workload-gen/program/program_builder.h"
#include "workload-gen/program/writer_context.h"

namespace drydock {

// The host's traffic per element.
inline constexpr int64_t kHostNormBytes = 4;   // an fp32 gradient is read
inline constexpr int64_t kHostScaleBytes = 8;  // and written
inline constexpr int64_t kHostAddBytes = 12;   // to another
inline constexpr int64_t kHostAdamBytes = 28;  // with parameter and moments read and written
inline constexpr int64_t kHostCastBytes = 6;   // fp32 to 16 bits

class Offload {
 public:
  using OpId = ProgramBuilder::OpId;

  explicit Offload(const WriterContext& context) : c_(context) {}

  // Beside compute, after `after` and the last of its own kind.
  OpId Load(const char* name, int64_t bytes, OpId after = ProgramBuilder::kNothing);
  OpId Store(const char* name, int64_t bytes, OpId after = ProgramBuilder::kNothing);
  // The host works once `after` has ended; compute goes on behind it.
  void Work(const char* name, int64_t bytes, OpId after);
  // The same, once everything has ended: a part of the optimizer's step.
  void Step(const char* name, int64_t bytes);

 private:
  const WriterContext& c_;
};

// ZeRO's gradients on their way to the host.
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
