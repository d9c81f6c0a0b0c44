// Buffers that a program registers with NCCL before it makes calls.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_LAUNCH_REGISTRATION_H_
#define DRYDOCK_SIMCCL_HACKNCCL_LAUNCH_REGISTRATION_H_

#include <cstddef>
#include <vector>

#include "comm.h"
#include "core/nccl/hacknccl.h"
#include "nccl.h"
#include "simccl/hacknccl/calls/call_buffers.h"

namespace drydock {

// Registers buffers with a communicator by NCCL's own functions; the destructor deregisters them.
// As NCCL advises, each buffer is an allocation of ncclMemAlloc and has the same offset in it on
// every rank.
class Registration {
 public:
  explicit Registration(ncclComm* comm);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  // Registers the buffers of a call as its `buffers` says. In place, the larger buffer holds the
  // smaller.
  ncclResult_t Add(const hacknccl_call& call, const CallBuffers::Pair& buffers);

 private:
  ncclResult_t Add(int kind, const CallBuffers::Memory& memory);

  ncclComm* comm_;
  CUmemAllocationHandleType handle_type_;
  std::vector<void*> handles_;
  std::vector<ncclWindow_t> windows_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_LAUNCH_REGISTRATION_H_
