#include "simccl/hacknccl/session.h"

#include "cudawrap.h"
#include "simccl/hacknccl/recorder/recorder.h"

namespace drydock {
namespace {
Session* current = nullptr;
}  // namespace

Session& Current() { return current != nullptr ? *current : *Recorder::Get().session(); }
bool InSession() { return current != nullptr; }

// Multi-node NVLink changes NCCL's kind of handles for the whole process; here it lasts for the
// communicator alone. None otherwise: handles are never passed on, so they need no file descriptor.
void SetCurrent(Session* session) {
  if (current != nullptr) current->memory_handles = ncclCuMemHandleType;
  current = session;
  if (current != nullptr) {
    ncclCuMemHandleType = static_cast<CUmemAllocationHandleType>(current->memory_handles);
  }
}

}  // namespace drydock
