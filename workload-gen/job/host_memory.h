// The memory that a workload's loads and stores go to: what the cluster states of its hosts, and
// configs/host-memory.yaml for the rest.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_HOST_MEMORY_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_HOST_MEMORY_H_

#include <string>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

std::string HostMemoryPath();

// Fills in host_memory if there are transfers. An error if they go to a remote memory that some
// kind of host has not.
Status FillHostMemory(Workload* workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_HOST_MEMORY_H_
