// Presents the cluster to NCCL on this host. Each process group of a workload becomes an NCCL
// communicator of the real library (core/nccl), which is created and destroyed. A group that NCCL
// rejects on the cluster is an error here, before any simulation.
//
// NCCL does not distinguish groups of the same placement: the same GPUs on the same kinds of hosts,
// with the hosts shared in the same pattern. With once_per_placement, one communicator represents
// all groups of its placement: at 16,384 ranks 27 communicators instead of 20,801, at about 3 ms
// each.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_COMMUNICATORS_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_COMMUNICATORS_H_

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

// Returns, for each group, the first group with the same placement (possibly the group itself).
std::vector<size_t> FirstOfPlacement(const Workload& workload);

struct CommunicatorOptions {
  std::string library_path;         // empty: the library of this installation
  bool once_per_placement = false;  // one communicator for all groups of the same placement
  // Called with the number of groups that have theirs and that of all.
  std::function<void(size_t done, size_t of)> progress;
};

// Returns the number of communicators created. An error names the role and the ranks of the group
// and gives NCCL's reason.
Result<size_t> CreateCommunicators(const Workload& workload, const CommunicatorOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_COMMUNICATORS_H_
