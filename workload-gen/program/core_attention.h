// Writes the attention core, with the communication of context parallelism (Transformer Engine's
// context_parallel.py):
//   p2p         keys and values go round a ring beside the steps' compute: CP - 1 exchanges
//               forward; CP backward, the other way, with the gradients behind them
//   a2a         queries, keys and values are exchanged for heads before, the output after
//   all_gather  keys and values of all ranks come together first; their gradients are summed
#ifndef DRYDOCK_WORKLOAD_GEN_PROGRAM_CORE_ATTENTION_H_
#define DRYDOCK_WORKLOAD_GEN_PROGRAM_CORE_ATTENTION_H_

#include "workload-gen/program/writer_context.h"

namespace drydock {

class CoreAttention {
 public:
  explicit CoreAttention(const WriterContext& context) : c_(context) {}

  void Forward(const CoreWork& core);
  void Backward(const CoreWork& core);

 private:
  void RingForward(const CoreWork& core);
  void RingBackward(const CoreWork& core);
  // One step round the ring, up or down, started.
  ProgramBuilder::OpId Shift(int64_t count, bool up);
  void Exchange(CollectiveType type, int64_t count);

  const WriterContext& c_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_PROGRAM_CORE_ATTENTION_H_
