// The topology of this rank's host, as NCCL searches it.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SOLO_TOPOLOGY_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SOLO_TOPOLOGY_H_

#include <vector>

#include "nccl.h"

struct ncclComm;
struct ncclTopoSystem;

namespace drydock {

// Returns the ranks of the GPUs in a topology, ascending.
std::vector<int> RanksOf(const ncclTopoSystem& system);

// Computes how many channels NCCL gives a pair of ranks, as computed by this host's ranks. Ranks
// may differ in their distance to NICs; the result is the minimum.
ncclResult_t ChannelsPerPeer(ncclComm* comm, int* channels);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SOLO_TOPOLOGY_H_
