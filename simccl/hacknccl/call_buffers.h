// Addresses that stand for the buffers of a launch's calls. Nothing is ever read there: NCCL
// compares them, looks for them among what is registered, and passes them on to kernels that never
// run.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_CALL_BUFFERS_H_
#define DRYDOCK_SIMCCL_HACKNCCL_CALL_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/nccl/hacknccl.h"
#include "nccl.h"
#include "nccl_common.h"

namespace drydock {

class CallBuffers {
 public:
  struct Memory {
    char* at = nullptr;
    size_t bytes = 0;
  };
  // In place, the smaller lies where the rank's own part of the larger one is (nccl.h).
  struct Pair {
    Memory send, receive;
  };

  // Of `rank` in a communicator of so many ranks.
  CallBuffers(const std::vector<hacknccl_call>& calls, int rank, int ranks);

  const Pair& of(size_t call) const { return pairs_[call]; }

  // The call whose buffers these are: the larger one of the two tells, or either of equal ones.
  int CallAt(ncclFunc_t function, const void* send, const void* receive) const;

 private:
  std::vector<Pair> pairs_;
  std::vector<uintptr_t> offsets_;  // of the pairs, each in its own half of the addresses
};

// The bytes of the larger buffer, on the rank that has it. The call must have passed CheckCalls.
size_t LargerBuffer(const hacknccl_call& call, int ranks);

// Of an element. The call's data type must be one of NCCL's.
size_t TypeSize(const hacknccl_call& call);

// Whether the call's count is of one rank's part of the larger buffer.
bool IsPerRank(int function);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_CALL_BUFFERS_H_
