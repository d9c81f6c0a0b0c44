#include "simccl/hacknccl/session/session.h"

#include "cudawrap.h"

namespace drydock {
namespace {

Session* current = nullptr;
Session* (*find_outside)() = nullptr;

Session& Current() { return current != nullptr ? *current : *find_outside(); }

}  // namespace

const VirtualRank& CurrentRank() { return Current().rank; }
GraphFindings& CurrentGraphs() { return Current().graphs; }
CollNetRanks& CurrentCollNet() { return Current().collnet; }
FarEnds& CurrentFarEnds() { return Current().far_ends; }
const SplitExchange& CurrentSplit() { return Current().split; }
LaunchCapture& CurrentLaunch() { return Current().launch; }

bool InSession() { return current != nullptr; }
void SetSessionOutside(Session* (*find)()) { find_outside = find; }

// Multi-node NVLink changes NCCL's type of handles for the whole process; here the change lasts
// only for the communicator. The default is no type: handles are never passed on, so they need no
// file descriptor.
void SetCurrent(Session* session) {
  if (current != nullptr) current->memory_handles = ncclCuMemHandleType;
  current = session;
  if (current != nullptr) {
    ncclCuMemHandleType = static_cast<CUmemAllocationHandleType>(current->memory_handles);
  }
}

}  // namespace drydock
