// The `faults:` section of a cluster file (docs/reference/cluster-file.md): cables, NICs and
// switches that break, slow down or lose packets, and GPUs that are slow.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_FAULT_FILE_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_FAULT_FILE_H_

#include <vector>

#include "core/base/yaml.h"
#include "core/model/topology.h"
#include "core/model/variation.h"

namespace drydock {

// Fills topology->faults and *slow_gpus. A fault that ends has two entries.
// REQUIRES: `topology` has its hosts and fabric.
void ReadFaults(const YamlNode& node, Topology* topology, std::vector<SlowGpu>* slow_gpus,
                Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_FAULT_FILE_H_
