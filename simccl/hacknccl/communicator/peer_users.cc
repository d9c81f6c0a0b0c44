// Counts how many communicators use each peer of a channel. The counts follow the peers in memory.
#include "comm.h"
#include "simccl/hacknccl/hooks.h"

namespace drydock {

int PeersAndUsers(int ranks) {
  constexpr int kCountsInAPeer = static_cast<int>(sizeof(ncclChannelPeer) / sizeof(int));
  return ranks + ranks / kCountsInAPeer + 1;
}

int* UsersOfPeer(ncclComm* comm, int channel, int rank) {
  const ncclSharedResources& shared = *comm->sharedRes;
  return reinterpret_cast<int*>(shared.peers[channel] + shared.tpNRanks) +
         comm->topParentRanks[rank];
}

}  // namespace drydock
