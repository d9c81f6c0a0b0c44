// The `sharing:` section of a GPU's file.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_SHARING_FILE_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_SHARING_FILE_H_

#include <vector>

#include "core/base/yaml.h"
#include "core/model/sharing_costs.h"
#include "core/model/topology.h"

namespace drydock {

void ReadSharing(const YamlNode& node, SharingCosts* costs, Diagnostics* diagnostics);

// Returns the costs of each GPU of the cluster: its own, its reference's, or none.
// REQUIRES: the files of the GPUs are valid.
std::vector<SharingCosts> SharingOf(const Topology& topology);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_SHARING_FILE_H_
