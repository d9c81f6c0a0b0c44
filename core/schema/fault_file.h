// The `faults:` section of a cluster file (docs/cluster.md): cables, NICs and switches that break,
// slow down or lose packets.
#ifndef DRYDOCK_CORE_SCHEMA_FAULT_FILE_H_
#define DRYDOCK_CORE_SCHEMA_FAULT_FILE_H_

#include "core/base/yaml.h"
#include "core/model/topology.h"

namespace drydock {

// Fills topology->faults; hosts and fabric must be there already. A fault that ends is two entries.
void ReadFaults(const YamlNode& node, Topology* topology, Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_FAULT_FILE_H_
