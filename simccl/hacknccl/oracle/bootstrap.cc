// NCCL's bootstrap between real ranks, over the memory they share. Stands in for NCCL's
// bootstrap.cc.
#include "bootstrap.h"

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "checks.h"
#include "comm.h"
#include "proxy.h"
#include "shmutils.h"
#include "simccl/hacknccl/oracle/oracle_session.h"

namespace {

using drydock::CurrentMeeting;

using Group = drydock::Meeting::Group;

// The ranks of a communicator, as the meeting counts them.
const Group& MembersOf(void* bootstrap) { return *static_cast<Group*>(bootstrap); }

void Open(Group members, uint64_t magic, ncclComm* comm) {
  comm->bootstrap = new Group(std::move(members));
  comm->magic = magic;
  // NCCL's bootstrap also creates the proxy's state.
  if (comm->sharedRes->proxyState == nullptr) {
    comm->sharedRes->proxyState = new ncclProxyState{};
    comm->sharedRes->proxyState->refCount = 1;
  }
  comm->proxyState = comm->sharedRes->proxyState;
}

ncclResult_t Done(bool exchanged, const char* what) {
  if (exchanged) return ncclSuccess;
  WARN("%s failed: another rank failed, or the ranks make different exchanges", what);
  return ncclRemoteError;
}

Group Some(void* bootstrap, const int* ranks, int count, bool of_host) {
  Group some = {{}, of_host};
  for (int i = 0; i < count; ++i) {
    some.ranks.push_back(MembersOf(bootstrap).ranks[static_cast<size_t>(ranks[i])]);
  }
  return some;
}
Group OfHost(void* bootstrap, const int* ranks, int count) {
  return Some(bootstrap, ranks, count, true);
}

// A broadcast is a gather of which only the root's record is used.
bool Broadcast(const Group& group, int index, int count, int root, void* data, int bytes) {
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
// All ranks must use the same id; the meeting identifies the communicator.
ncclResult_t bootstrapGetUniqueId(ncclBootstrapHandle* handle, ncclComm*) {
  memset(handle, 0, sizeof *handle);
  handle->magic = 1;
  return ncclSuccess;
}
ncclResult_t bcastGrowHandle(ncclBootstrapHandle*, ncclComm*, bool) { return ncclInternalError; }

ncclResult_t bootstrapInit(int, void* handle, ncclComm* comm, ncclComm*) {
  Group all;
  all.ranks.resize(static_cast<size_t>(comm->nRanks));
  std::iota(all.ranks.begin(), all.ranks.end(), 0);
  Open(std::move(all), static_cast<ncclBootstrapHandle*>(handle)->magic, comm);
  return ncclSuccess;
}
ncclResult_t bootstrapSplit(uint64_t magic, ncclComm* comm, ncclComm* parent, int, int,
                            int* parent_ranks) {
  for (int r = 0; parent->shareResources && r < comm->nRanks; ++r) {
    comm->topParentRanks[r] = parent->topParentRanks[parent_ranks[r]];
  }
  Open(Some(parent->bootstrap, parent_ranks, comm->nRanks, false), magic, comm);
  return ncclSuccess;
}
ncclResult_t bootstrapClose(void* bootstrap) {
  delete static_cast<Group*>(bootstrap);
  return ncclSuccess;
}
ncclResult_t bootstrapAbort(void* bootstrap) { return bootstrapClose(bootstrap); }

ncclResult_t bootstrapAllGather(void* bootstrap, void* data, int bytes) {
  return Done(CurrentMeeting().AllGather(MembersOf(bootstrap), data, static_cast<size_t>(bytes)),
              "AllGather");
}
ncclResult_t bootstrapIntraNodeAllGather(void* bootstrap, int* ranks, int, int count, void* data,
                                         int bytes) {
  return Done(
      CurrentMeeting().AllGather(OfHost(bootstrap, ranks, count), data, static_cast<size_t>(bytes)),
      "AllGather of a host");
}
ncclResult_t bootstrapBroadcast(void* bootstrap, int rank, int ranks, int root, void* data,
                                int bytes) {
  return Done(Broadcast(MembersOf(bootstrap), rank, ranks, root, data, bytes), "Broadcast");
}
ncclResult_t bootstrapIntraNodeBroadcast(void* bootstrap, int* ranks, int index, int count,
                                         int root, void* data, int bytes) {
  return Done(Broadcast(OfHost(bootstrap, ranks, count), index, count, root, data, bytes),
              "Broadcast of a host");
}
ncclResult_t bootstrapBarrier(void* bootstrap, int, int, int) {
  return Done(CurrentMeeting().Barrier(MembersOf(bootstrap)), "Barrier");
}
ncclResult_t bootstrapIntraNodeBarrier(void* bootstrap, int* ranks, int, int count, int) {
  return Done(CurrentMeeting().Barrier(OfHost(bootstrap, ranks, count)), "Barrier of a host");
}
ncclResult_t bootstrapSend(void* bootstrap, int peer, int tag, void* data, int bytes) {
  const int to = MembersOf(bootstrap).ranks[static_cast<size_t>(peer)];
  return Done(CurrentMeeting().Send(to, tag, data, static_cast<size_t>(bytes)), "Send");
}
ncclResult_t bootstrapRecv(void* bootstrap, int peer, int tag, void* data, int bytes) {
  const int from = MembersOf(bootstrap).ranks[static_cast<size_t>(peer)];
  return Done(CurrentMeeting().Receive(from, tag, data, static_cast<size_t>(bytes)), "Receive");
}

// ---- Memory shared with the other ranks of the host ----

ncclResult_t ncclShmemAllgather(ncclComm* comm, ncclShmemCollBuff*, void* own, void* all,
                                size_t bytes) {
  memcpy(static_cast<char*>(all) + static_cast<size_t>(comm->localRank) * bytes, own, bytes);
  return Done(CurrentMeeting().AllGather(
                  OfHost(comm->bootstrap, comm->localRankToRank, comm->localRanks), all, bytes),
              "AllGather of a host");
}
