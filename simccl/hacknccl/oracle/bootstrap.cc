// NCCL's bootstrap between real ranks, over the memory they share. Stands in for NCCL's
// bootstrap.cc and misc/shmutils.cc.
#include "bootstrap.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include "checks.h"
#include "comm.h"
#include "oracle_session.h"
#include "proxy.h"
#include "shmutils.h"

namespace {

using drydock::CurrentMeeting;

ncclResult_t Done(bool exchanged, const char* what) {
  if (exchanged) return ncclSuccess;
  WARN("%s failed: another rank failed, or the ranks do not agree on what comes next", what);
  return ncclRemoteError;
}

std::vector<int> Group(const int* ranks, int count) { return {ranks, ranks + count}; }

// A broadcast as a gather of which only the root's record counts.
bool Broadcast(const std::vector<int>& group, int index, int count, int root, void* data,
               int bytes) {
  const auto size = static_cast<size_t>(bytes);
  std::vector<char> records(size * static_cast<size_t>(count));
  memcpy(records.data() + static_cast<size_t>(index) * size, data, size);
  if (!CurrentMeeting().AllGather(group, records.data(), size)) return false;
  memcpy(data, records.data() + static_cast<size_t>(root) * size, size);
  return true;
}

}  // namespace

ncclResult_t bootstrapNetInit() { return ncclSuccess; }
ncclResult_t bootstrapCreateRoot(ncclBootstrapHandle*, bool) { return ncclSuccess; }
// All ranks must name the communicator alike; the meeting has told them which it is.
ncclResult_t bootstrapGetUniqueId(ncclBootstrapHandle* handle, ncclComm*) {
  memset(handle, 0, sizeof *handle);
  handle->magic = 1;
  return ncclSuccess;
}
ncclResult_t bcastGrowHandle(ncclBootstrapHandle*, ncclComm*, bool) { return ncclInternalError; }

ncclResult_t bootstrapInit(int, void* handle, ncclComm* comm, ncclComm*) {
  comm->bootstrap = &CurrentMeeting();
  comm->magic = static_cast<ncclBootstrapHandle*>(handle)->magic;
  // NCCL's bootstrap also opens the proxy's books.
  comm->sharedRes->proxyState = new ncclProxyState{};
  comm->sharedRes->proxyState->refCount = 1;
  comm->proxyState = comm->sharedRes->proxyState;
  return ncclSuccess;
}
ncclResult_t bootstrapSplit(uint64_t, ncclComm*, ncclComm*, int, int, int*) {
  WARN("ranks of the oracle belong to one communicator");
  return ncclInvalidUsage;
}
ncclResult_t bootstrapClose(void*) { return ncclSuccess; }
ncclResult_t bootstrapAbort(void*) { return ncclSuccess; }

ncclResult_t bootstrapAllGather(void*, void* data, int bytes) {
  return Done(CurrentMeeting().AllGather({}, data, static_cast<size_t>(bytes)), "AllGather");
}
ncclResult_t bootstrapIntraNodeAllGather(void*, int* ranks, int, int count, void* data, int bytes) {
  return Done(CurrentMeeting().AllGather(Group(ranks, count), data, static_cast<size_t>(bytes)),
              "AllGather of a host");
}
ncclResult_t bootstrapBroadcast(void*, int rank, int ranks, int root, void* data, int bytes) {
  return Done(Broadcast({}, rank, ranks, root, data, bytes), "Broadcast");
}
ncclResult_t bootstrapIntraNodeBroadcast(void*, int* ranks, int index, int count, int root,
                                         void* data, int bytes) {
  return Done(Broadcast(Group(ranks, count), index, count, root, data, bytes),
              "Broadcast of a host");
}
ncclResult_t bootstrapBarrier(void*, int, int, int) {
  return Done(CurrentMeeting().Barrier({}), "Barrier");
}
ncclResult_t bootstrapIntraNodeBarrier(void*, int* ranks, int, int count, int) {
  return Done(CurrentMeeting().Barrier(Group(ranks, count)), "Barrier of a host");
}
ncclResult_t bootstrapSend(void*, int peer, int tag, void* data, int bytes) {
  return Done(CurrentMeeting().Send(peer, tag, data, static_cast<size_t>(bytes)), "Send");
}
ncclResult_t bootstrapRecv(void*, int peer, int tag, void* data, int bytes) {
  return Done(CurrentMeeting().Receive(peer, tag, data, static_cast<size_t>(bytes)), "Receive");
}

// ---- Memory shared with the other ranks of the host ----

// What NCCL would keep there is read by kernels and proxies alone: a rank's own copy will do.
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
  memcpy(static_cast<char*>(all) + static_cast<size_t>(comm->localRank) * bytes, own, bytes);
  return Done(
      CurrentMeeting().AllGather(Group(comm->localRankToRank, comm->localRanks), all, bytes),
      "AllGather of a host");
}
