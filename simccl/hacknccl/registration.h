// Buffers that a program has made known to NCCL before it calls.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_REGISTRATION_H_
#define DRYDOCK_SIMCCL_HACKNCCL_REGISTRATION_H_

#include <cstddef>
#include <vector>

#include "simccl/hacknccl/call_buffers.h"
#include "comm.h"
#include "core/nccl/hacknccl.h"
#include "nccl.h"

namespace drydock {

// Registers buffers with a communicator, by NCCL's own functions, until it is destroyed. As in a
// program that follows NCCL's advice, each is an allocation of ncclMemAlloc's own, and lies in it
// alike on every rank.
class Registration {
 public:
  explicit Registration(ncclComm* comm);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  // The two buffers of a call as it says. In place, the larger one holds the smaller.
  ncclResult_t Add(const hacknccl_call& call, const CallBuffers::Pair& buffers);

 private:
  ncclResult_t Add(int kind, const CallBuffers::Memory& memory);

  ncclComm* comm_;
  CUmemAllocationHandleType handle_type_;
  std::vector<void*> handles_;
  std::vector<ncclWindow_t> windows_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_REGISTRATION_H_
