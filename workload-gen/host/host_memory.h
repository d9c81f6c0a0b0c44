// The memory that loads and stores of a workload access. The cluster states it per kind of host;
// configs/host-memory.yaml has the defaults.
#ifndef DRYDOCK_WORKLOAD_GEN_HOST_HOST_MEMORY_H_
#define DRYDOCK_WORKLOAD_GEN_HOST_HOST_MEMORY_H_

#include <string>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

std::string HostMemoryPath();

// Fills in host_memory if the workload has transfers. Returns an error if a transfer accesses a
// remote memory and some kind of host has none.
Status FillHostMemory(Workload* workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_HOST_HOST_MEMORY_H_
