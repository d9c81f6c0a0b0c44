#include "simccl/hacknccl/launch/registration.h"

#include "checks.h"
#include "core/nccl/hacknccl.h"
#include "simccl/hacknccl/session/launch_capture.h"

namespace drydock {

// NCCL shares no memory without handles (session.cc), and their type decides nothing. Fabric
// handles go to other ranks as data; file descriptors would go through a proxy's socket.
Registration::Registration(ncclComm* comm) : comm_(comm), handle_type_(ncclCuMemHandleType) {
  ncclCuMemHandleType = CU_MEM_HANDLE_TYPE_FABRIC;
}

Registration::~Registration() {
  for (const ncclWindow_t window : windows_) ncclCommWindowDeregister(comm_, window);
  for (void* const handle : handles_) ncclCommDeregister(comm_, handle);
  CurrentLaunch().registered.clear();
  ncclCuMemHandleType = handle_type_;
}

ncclResult_t Registration::Add(const hacknccl_call& call, const CallBuffers::Pair& buffers) {
  const bool sends_more = buffers.send.bytes >= buffers.receive.bytes;
  if (!call.in_place || sends_more) NCCLCHECK(Add(call.buffers, buffers.send));
  if (!call.in_place || !sends_more) NCCLCHECK(Add(call.buffers, buffers.receive));
  return ncclSuccess;
}

ncclResult_t Registration::Add(int kind, const CallBuffers::Memory& memory) {
  if (kind == HACKNCCL_BUFFERS_PLAIN || memory.bytes == 0) return ncclSuccess;
  CurrentLaunch().registered.push_back(memory);
  if (kind == HACKNCCL_BUFFERS_REGISTERED) {
    handles_.emplace_back();
    return ncclCommRegister(comm_, memory.at, memory.bytes, &handles_.back());
  }
  windows_.emplace_back();
  return ncclCommWindowRegister(comm_, memory.at, memory.bytes, &windows_.back(),
                                NCCL_WIN_COLL_SYMMETRIC);
}

}  // namespace drydock
