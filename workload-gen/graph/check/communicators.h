// Fakes the cluster on this host: every process group of a workload becomes an NCCL communicator
// of the real library (core/nccl), created and taken down again. What NCCL would refuse on the
// cluster is an error here, before anything is simulated.
//
// To NCCL, groups that lie alike are one case: the same GPUs of the same kinds of hosts, hosts
// shared in the same pattern. With alike_once a case is created once and holds for all its groups:
// at 16,384 ranks 27 communicators instead of 20,801, at some 3 ms each.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_COMMUNICATORS_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_COMMUNICATORS_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

// For each group, the first group that lies as it does (itself, if it is the first).
std::vector<size_t> FirstAlike(const Workload& workload);

struct CommunicatorOptions {
  std::string library_path;  // empty: where set-up put it
  bool alike_once = false;   // groups that lie alike share one
};

// The number of communicators created. The error names the group's role and ranks, and gives
// NCCL's reason.
Result<size_t> CreateCommunicators(const Workload& workload, const CommunicatorOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_COMMUNICATORS_H_
