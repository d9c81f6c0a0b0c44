// Addresses for the buffers of a launch's calls. No code reads the memory there: NCCL compares the
// addresses, looks them up among registered buffers, and passes them to kernels that never run.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_CALLS_CALL_BUFFERS_H_
#define DRYDOCK_SIMCCL_HACKNCCL_CALLS_CALL_BUFFERS_H_

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
  // In place, the smaller buffer is the rank's own part of the larger one (nccl.h).
  struct Pair {
    Memory send, receive;
  };

  // Makes the buffers of `rank` in a communicator of `ranks` ranks.
  CallBuffers(const std::vector<hacknccl_call>& calls, int rank, int ranks);

  const Pair& of(size_t call) const { return pairs_[call]; }

  // Returns the call with these buffers. The larger buffer decides; either does if they are equal.
  int CallAt(ncclFunc_t function, const void* send, const void* receive) const;

 private:
  std::vector<Pair> pairs_;
  std::vector<uintptr_t> offsets_;  // of each pair, within the send space and the receive space
};

// Returns the bytes of the larger buffer, on the rank that has it. REQUIRES: CheckCalls is "".
size_t LargerBuffer(const hacknccl_call& call, int ranks);

// Returns the bytes of an element. REQUIRES: the call's data type is one of NCCL's.
size_t TypeSize(const hacknccl_call& call);

// Returns true if the call counts one rank's part of the larger buffer.
bool IsPerRank(int function);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_CALLS_CALL_BUFFERS_H_
