// NCCL's bootstrap with one real rank. Stands in for NCCL's bootstrap.cc.
//
// Exchanges that NCCL's decisions depend on have their own hooks (gather.cc). In every other
// exchange the absent ranks send what the present rank sends.
#include "bootstrap.h"

#include <cstdlib>
#include <cstring>

#include "checks.h"
#include "comm.h"
#include "proxy.h"
#include "shmutils.h"
#include "simccl/hacknccl/communicator/peers.h"
#include "simccl/hacknccl/hooks.h"
#include "simccl/hacknccl/recorder/record_communicator.h"
#include "simccl/hacknccl/session/session.h"

namespace {

using drydock::InSession;
using drydock::Recording;
namespace recorded = drydock::recorded;

void Repeat(void* data, int rank, int ranks, int bytes) {
  char* records = static_cast<char*>(data);
  const char* own = records + static_cast<size_t>(rank) * static_cast<size_t>(bytes);
  for (int r = 0; r < ranks; ++r) {
    if (r != rank)
      memcpy(records + static_cast<size_t>(r) * static_cast<size_t>(bytes), own, bytes);
  }
}

// The absent ranks of a communicator.
class VirtualPeers final : public drydock::Peers {
 public:
  VirtualPeers(int rank, int ranks) : rank_(rank), ranks_(ranks) {}
  ncclResult_t Split(uint64_t magic, ncclComm* comm, ncclComm* parent, const int* members) override;
  ncclResult_t AllGather(void* data, int bytes) override {
    const drydock::SplitExchange& split = drydock::CurrentSplit();
    if (split.over == static_cast<drydock::Peers*>(this)) {  // init.cc: commGetSplitInfo
      memcpy(data, split.requests->data(), static_cast<size_t>(ranks_ * bytes));
    } else {
      Repeat(data, rank_, ranks_, bytes);
    }
    return ncclSuccess;
  }

 private:
  int rank_, ranks_;
};

ncclResult_t Open(ncclComm* comm, uint64_t magic) {
  comm->bootstrap = static_cast<drydock::Peers*>(new VirtualPeers(comm->rank, comm->nRanks));
  comm->magic = magic;
  // NCCL's bootstrap also creates the proxy's state; ncclProxyDestroy deletes it.
  if (comm->sharedRes->proxyState == nullptr) {
    comm->sharedRes->proxyState = new ncclProxyState{};
    comm->sharedRes->proxyState->refCount = 1;
  }
  comm->proxyState = comm->sharedRes->proxyState;
  return ncclSuccess;
}

ncclResult_t VirtualPeers::Split(uint64_t magic, ncclComm* comm, ncclComm* parent,
                                 const int* members) {
  for (int r = 0; parent->shareResources && r < comm->nRanks; ++r) {
    comm->topParentRanks[r] = parent->topParentRanks[members[r]];
  }
  return Open(comm, magic);
}

drydock::Peers* PeersOf(void* bootstrap) { return static_cast<drydock::Peers*>(bootstrap); }

}  // namespace

// The first function that NCCL calls in a process.
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

ncclResult_t bootstrapInit(int, void* handle, ncclComm* comm, ncclComm*) {
  const uint64_t magic = static_cast<ncclBootstrapHandle*>(handle)->magic;
  return Recording() ? recorded::Init(magic, comm) : Open(comm, magic);
}
ncclResult_t bootstrapSplit(uint64_t magic, ncclComm* comm, ncclComm* parent, int, int,
                            int* parent_ranks) {
  return PeersOf(parent->bootstrap)->Split(magic, comm, parent, parent_ranks);
}
ncclResult_t bootstrapClose(void* bootstrap) {
  delete PeersOf(bootstrap);
  return ncclSuccess;
}
ncclResult_t bootstrapAbort(void* bootstrap) { return bootstrapClose(bootstrap); }

ncclResult_t bootstrapAllGather(void* bootstrap, void* data, int bytes) {
  return PeersOf(bootstrap)->AllGather(data, bytes);
}
ncclResult_t bootstrapIntraNodeAllGather(void*, int*, int rank, int ranks, void* data, int bytes) {
  Repeat(data, rank, ranks, bytes);
  return ncclSuccess;
}
// The root sends what this rank would send, which `data` holds already.
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

// Memory shared with the other ranks of the host, which are absent (fake_shm.cc).
ncclResult_t ncclShmemAllgather(ncclComm* comm, ncclShmemCollBuff*, void* own, void* all,
                                size_t bytes) {
  for (int r = 0; r < comm->localRanks; ++r) {
    memcpy(static_cast<char*>(all) + static_cast<size_t>(r) * bytes, own, bytes);
  }
  return ncclSuccess;
}
