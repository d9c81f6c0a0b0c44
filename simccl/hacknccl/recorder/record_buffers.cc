// Buffers that a recorded program registers with NCCL. ncclCommRegister keeps its own list; this
// file keeps the windows.
#include <mutex>
#include <unordered_set>

#include "checks.h"
#include "collectives.h"
#include "comm.h"
#include "info.h"
#include "register.h"
#include "register_inline.h"
#include "simccl/hacknccl/hooks.h"
#include "simccl/hacknccl/recorder/recorder.h"

namespace drydock {
namespace {

// The target of a window handle. The program may only return the handle, or pass it to kernels that
// never run.
struct RecordedWindow {
  void* handle = nullptr;     // of ncclCommRegister
  uint64_t communicator = 0;  // its serial; addresses are reused
  uintptr_t begin = 0, end = 0;
  bool symmetric = false;
};

std::mutex mutex;
std::unordered_set<RecordedWindow*> windows;

bool IsInSymmetricWindow(const ncclComm* comm, uintptr_t begin, uintptr_t end) {
  const std::lock_guard<std::mutex> lock(mutex);
  for (const RecordedWindow* window : windows) {
    if (window->symmetric && window->communicator == SerialOf(*comm) && window->begin <= begin &&
        end <= window->end) {
      return true;
    }
  }
  return false;
}

RecordBuffers KindOf(ncclComm* comm, const void* buffer, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(buffer);
  if (IsInSymmetricWindow(comm, begin, begin + bytes)) return RecordBuffers::kSymmetric;
  ncclReg* found = nullptr;
  (void)ncclRegFind(comm, buffer, bytes, &found);
  return found != nullptr ? RecordBuffers::kRegistered : RecordBuffers::kPlain;
}

}  // namespace

RecordBuffers BuffersOf(const ncclInfo& info) {
  ncclComm* const comm = info.comm;
  const size_t element = static_cast<size_t>(ncclTypeSize(info.datatype));
  const size_t part = info.count * element, all = part * static_cast<size_t>(comm->nRanks);
  const bool root = info.root == comm->rank;
  size_t sent = part, received = part;
  switch (info.coll) {
    case ncclFuncSend:
    case ncclFuncRecv:  // NCCL stores the only buffer of either in recvbuff
      sent = 0;
      break;
    case ncclFuncAllGather:
      received = all;
      break;
    case ncclFuncReduceScatter:
      sent = all;
      break;
    case ncclFuncAlltoAll:
      sent = received = all;
      break;
    case ncclFuncGather:
      received = root ? all : 0;
      break;
    case ncclFuncScatter:
      sent = root ? all : 0;
      break;
    case ncclFuncReduce:
      received = root ? part : 0;
      break;
    default:
      break;
  }
  auto least = RecordBuffers::kSymmetric;
  if (sent > 0) least = std::min(least, KindOf(comm, info.sendbuff, sent));
  if (received > 0) least = std::min(least, KindOf(comm, info.recvbuff, received));
  return sent + received > 0 ? least : RecordBuffers::kPlain;
}

ncclResult_t RecordWindow(ncclComm* comm, void* buffer, size_t bytes, ncclWindow_t* window,
                          int flags) {
  auto* const made = new RecordedWindow;
  made->communicator = SerialOf(*comm);
  made->begin = reinterpret_cast<uintptr_t>(buffer);
  made->end = made->begin + bytes;
  made->symmetric = (flags & NCCL_WIN_COLL_SYMMETRIC) != 0;
  const ncclResult_t result = ncclCommRegister(comm, buffer, bytes, &made->handle);
  if (result != ncclSuccess) {
    delete made;
    return result;
  }
  const std::lock_guard<std::mutex> lock(mutex);
  windows.insert(made);
  *window = reinterpret_cast<ncclWindow_t>(made);
  return ncclSuccess;
}

ncclResult_t DropWindow(ncclComm* comm, ncclWindow_t window) {
  auto* const known = reinterpret_cast<RecordedWindow*>(window);
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (windows.count(known) == 0 || known->communicator != SerialOf(*comm)) {
      WARN("ncclCommWindowDeregister: %p is not a window of this communicator", window);
      return ncclInvalidArgument;
    }
    windows.erase(known);
  }
  const ncclResult_t result = ncclCommDeregister(comm, known->handle);
  delete known;
  return result;
}

}  // namespace drydock
