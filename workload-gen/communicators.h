// Fakes the cluster on this host: every process group of a workload becomes an NCCL communicator
// of the real library (core/nccl), created and taken down again. What NCCL would refuse on the
// cluster is an error here, before anything is simulated.
#ifndef DRYDOCK_WORKLOAD_GEN_COMMUNICATORS_H_
#define DRYDOCK_WORKLOAD_GEN_COMMUNICATORS_H_

#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

// `progress` is told how many of how many groups exist, after each. The error names the group's
// role and ranks, and gives NCCL's reason.
Status CreateCommunicators(const Workload& workload, const std::string& library_path,
                           const std::function<void(size_t done, size_t of)>& progress);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_COMMUNICATORS_H_
