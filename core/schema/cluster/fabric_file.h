// The `fabric:` section of cluster.topo.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_FABRIC_FILE_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_FABRIC_FILE_H_

#include "core/base/yaml.h"
#include "core/model/topology.h"
#include "core/schema/fabric/fabric_kind.h"

namespace drydock {

// Fills topology->fabric. REQUIRES: `topology` has its hosts, host kinds and transport.
void ReadFabric(const YamlNode& node, const FileFetcher& fetch, Topology* topology,
                Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_FABRIC_FILE_H_
