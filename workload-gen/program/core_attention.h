// Writes the attention core, with the communication of context parallelism (Transformer Engine's
// context_parallel.py):
//   p2p         keys and values shift around a ring beside the compute of the steps: CP - 1
//               exchanges forward; CP backward, in the other direction, followed by the gradients
//   a2a         an all-to-all of queries, keys and values by heads before, of the output after
//   all_gather  gathers keys and values of all ranks first, and sums their gradients
//   a2a+p2p     the all-to-alls of a2a in an inner group around a ring of outer ranks
// and under FSDP, PyTorch's (torch/distributed/tensor/experimental/_attention.py): the steps of a
// ring whose keys arrive one rank after another (p2p) or all together (all_gather). The gradients
// of keys travel around the ring in fp32. In compiled blocks nothing runs beside an exchange.
#ifndef DRYDOCK_WORKLOAD_GEN_PROGRAM_CORE_ATTENTION_H_
#define DRYDOCK_WORKLOAD_GEN_PROGRAM_CORE_ATTENTION_H_

#include <initializer_list>

#include "workload-gen/program/writer_context.h"

namespace drydock {

class CoreAttention {
 public:
  explicit CoreAttention(const WriterContext& context) : c_(context) {}

  void Forward(const CoreWork& core);
  void Backward(const CoreWork& core);

 private:
  // What lies between the casts of attention in fp8.
  void Steps(const CoreWork& core);
  void BackwardSteps(const CoreWork& core);
  void RingForward(const CoreWork& core);
  void RingBackward(const CoreWork& core);
  void TorchForward(const CoreWork& core);
  void TorchBackward(const CoreWork& core);
  // PyTorch's exchange at `step`: the next keys, or once all keys.
  ProgramBuilder::OpId TorchExchange(const CoreWork& core, int step);
  // Returns what PyTorch's first use of an exchange waits for: nothing if it has waited already.
  ProgramBuilder::OpId InFlight(ProgramBuilder::OpId exchange);
  // Starts one shift around the ring, up or down.
  ProgramBuilder::OpId Shift(int64_t count, bool up, DataType type);
  void Exchange(CollectiveType collective, int64_t count, DataType type);
  // An all-to-all of each of `counts` in the inner groups of a2a+p2p; otherwise nothing.
  void ExchangeHeads(std::initializer_list<int64_t> counts, DataType type);

  const WriterContext& c_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_PROGRAM_CORE_ATTENTION_H_
