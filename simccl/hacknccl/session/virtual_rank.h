// The rank as which NCCL runs, and its place in the cluster.
//
// NCCL asks about "this machine" through dozens of global functions (CUDA, NVML, the environment,
// the network plugin). They answer for the current rank.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SESSION_VIRTUAL_RANK_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SESSION_VIRTUAL_RANK_H_

#include <vector>

#include "simccl/hacknccl/cluster/layout.h"

namespace drydock {

struct VirtualRank {
  const std::vector<HostClass>* classes = nullptr;
  const Layout* layout = nullptr;
  int rank = 0;

  const HostClass& host_class() const {
    return (*classes)[static_cast<size_t>(layout->kind_of(rank).neighbors.host_class)];
  }
  const hacknccl_place& place() const { return layout->places[static_cast<size_t>(rank)]; }
  int tray() const { return host_class().TrayOf(place().gpu); }
};

// Returns the rank of the current session (session.h).
const VirtualRank& CurrentRank();

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SESSION_VIRTUAL_RANK_H_
