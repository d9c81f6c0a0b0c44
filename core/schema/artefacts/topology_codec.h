// 1-workload/topology.pb: the topology and the variation of a cluster. Internal to core/schema.
//
// The manifest has the texts that they follow from. The file names the hash of each, so that a text
// and a topology that do not belong together are refused.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_TOPOLOGY_CODEC_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_TOPOLOGY_CODEC_H_

#include <string>

#include "core/base/result.h"
#include "core/model/topology.h"
#include "core/schema/cluster/cluster_file.h"

namespace drydock {

// Returns the content of the file. `cluster`: texts and variation; `tool`: what writes the file.
// The error names `path`.
Result<std::string> EncodeTopology(const Topology& topology, const ClusterInput& cluster,
                                   const std::string& tool, const std::string& path);

// Reads and checks the file at `path`. Sets cluster->topology and cluster->variation.
// REQUIRES: `cluster` has the texts of the manifest.
Status ReadTopology(const std::string& path, ClusterInput* cluster);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_TOPOLOGY_CODEC_H_
