// How ranks find each other and exchange small data, when there is one rank. Stands in for NCCL's
// bootstrap.cc and misc/shmutils.cc.
//
// An exchange that NCCL's decisions depend on has a hook of its own (gather.cc). In every other one
// the absent ranks say exactly what the present one says.
#include <cstdlib>
#include <cstring>

#include "bootstrap.h"
#include "checks.h"
#include "comm.h"
#include "proxy.h"
#include "record_communicator.h"
#include "session.h"
#include "shmutils.h"

namespace {

using drydock::InSession;
using drydock::Recording;
namespace recorded = drydock::recorded;

struct State {
  int rank;
  int ranks;
};

void Repeat(void* data, int rank, int ranks, int bytes) {
  char* records = static_cast<char*>(data);
  const char* own = records + static_cast<size_t>(rank) * static_cast<size_t>(bytes);
  for (int r = 0; r < ranks; ++r) {
    if (r != rank)
      memcpy(records + static_cast<size_t>(r) * static_cast<size_t>(bytes), own, bytes);
  }
}

}  // namespace

// The first thing NCCL does in a process.
ncclResult_t bootstrapNetInit() { return InSession() ? ncclSuccess : recorded::Start(); }
ncclResult_t bootstrapCreateRoot(ncclBootstrapHandle*, bool) { return ncclSuccess; }
ncclResult_t bootstrapGetUniqueId(ncclBootstrapHandle* handle, ncclComm*) {
  memset(handle, 0, sizeof *handle);
  handle->magic = Recording() ? recorded::UniqueId() : 1;
  return ncclSuccess;
}
ncclResult_t bcastGrowHandle(ncclBootstrapHandle*, ncclComm*, bool) {
  WARN("a virtual communicator cannot grow; create the larger one");
  return ncclInvalidUsage;
}

static ncclResult_t Open(ncclComm* comm, uint64_t magic) {
  comm->bootstrap = new State{comm->rank, comm->nRanks};
  comm->magic = magic;
  // NCCL's bootstrap also opens the proxy's books; ncclProxyDestroy closes them.
  if (comm->sharedRes->proxyState == nullptr) {
    comm->sharedRes->proxyState = new ncclProxyState{};
    comm->sharedRes->proxyState->refCount = 1;
  }
  comm->proxyState = comm->sharedRes->proxyState;
  return ncclSuccess;
}
ncclResult_t bootstrapInit(int, void* handle, ncclComm* comm, ncclComm*) {
  const uint64_t magic = static_cast<ncclBootstrapHandle*>(handle)->magic;
  return Recording() ? recorded::Init(magic, comm) : Open(comm, magic);
}
ncclResult_t bootstrapSplit(uint64_t magic, ncclComm* comm, ncclComm* parent, int, int,
                            int* parent_ranks) {
  if (Recording()) return recorded::Split(magic, comm, parent, parent_ranks);
  for (int r = 0; parent->shareResources && r < comm->nRanks; ++r) {
    comm->topParentRanks[r] = parent->topParentRanks[parent_ranks[r]];
  }
  return Open(comm, magic);
}
ncclResult_t bootstrapClose(void* state) {
  if (Recording()) return recorded::Close(state);
  delete static_cast<State*>(state);
  return ncclSuccess;
}
ncclResult_t bootstrapAbort(void* state) { return bootstrapClose(state); }

ncclResult_t bootstrapAllGather(void* state_pointer, void* data, int bytes) {
  if (Recording()) return recorded::AllGather(state_pointer, data, bytes);
  const State* state = static_cast<State*>(state_pointer);
  const drydock::Session& session = drydock::Current();
  if (session.split_over == state_pointer) {  // init.cc: commGetSplitInfo
    memcpy(data, session.split_wishes->data(), static_cast<size_t>(state->ranks * bytes));
    return ncclSuccess;
  }
  Repeat(data, state->rank, state->ranks, bytes);
  return ncclSuccess;
}
ncclResult_t bootstrapIntraNodeAllGather(void*, int*, int rank, int ranks, void* data, int bytes) {
  Repeat(data, rank, ranks, bytes);
  return ncclSuccess;
}
// The root said what this rank would have said, which is what `data` holds.
ncclResult_t bootstrapBroadcast(void*, int, int, int, void*, int) { return ncclSuccess; }
ncclResult_t bootstrapIntraNodeBroadcast(void*, int*, int, int, int, void*, int) {
  return ncclSuccess;
}
ncclResult_t bootstrapBarrier(void*, int, int, int) { return ncclSuccess; }
ncclResult_t bootstrapIntraNodeBarrier(void*, int*, int, int, int) { return ncclSuccess; }

ncclResult_t bootstrapSend(void*, int peer, int, void*, int) {
  WARN("NCCL wants to send a message to virtual rank %d", peer);
  return ncclInternalError;
}
ncclResult_t bootstrapRecv(void*, int peer, int, void*, int) {
  WARN("NCCL wants a message from virtual rank %d", peer);
  return ncclInternalError;
}

// ---- Memory shared with the other ranks of the host: nobody else is there to share it ----

ncclResult_t ncclShmOpen(char*, size_t, size_t bytes, void** host, void** device, int,
                         ncclShmHandle_t* handle) {
  *host = calloc(1, bytes);
  if (*host == nullptr) return ncclSystemError;
  if (device != nullptr) *device = *host;
  *handle = *host;
  return ncclSuccess;
}
ncclResult_t ncclShmClose(ncclShmHandle_t handle) {
  free(handle);
  return ncclSuccess;
}
ncclResult_t ncclShmUnlink(ncclShmHandle_t) { return ncclSuccess; }
ncclResult_t ncclShmemAllgather(ncclComm* comm, ncclShmemCollBuff*, void* own, void* all,
                                size_t bytes) {
  for (int r = 0; r < comm->localRanks; ++r) {
    memcpy(static_cast<char*>(all) + static_cast<size_t>(r) * bytes, own, bytes);
  }
  return ncclSuccess;
}
