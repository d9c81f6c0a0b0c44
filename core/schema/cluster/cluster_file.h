// Reads cluster.topo (docs/reference/cluster-file.md) into a Topology: hosts, fabric (generated or
// explicit), transport, NCCL settings. Everything wrong is reported at once, with its place.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_CLUSTER_FILE_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_CLUSTER_FILE_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/yaml.h"
#include "core/model/topology.h"
#include "core/model/variation.h"

namespace drydock {

// A cluster and the texts it was read from: enough to read it again without the files.
struct ClusterInput {
  Topology topology;
  Variation variation;
  std::string yaml;                                        // overrides applied
  std::vector<std::pair<std::string, std::string>> files;  // GPU files and NCCL XMLs, by name
  // Names and values of topology.nccl_settings, in its order, with their places: NCCL alone knows
  // what is wrong with them.
  std::vector<std::pair<YamlNode, YamlNode>> nccl_settings;
};

// `overrides`: the --set assignments that concern the cluster (see IsClusterOverride).
// GPU specifications are looked for in gpus/ beside the folder of the cluster file, then in the
// configs that were built in.
Result<ClusterInput> LoadCluster(const std::string& path,
                                 const std::vector<std::string>& overrides);

// The same from texts (an artefact's copy).
Result<ClusterInput> ParseCluster(const std::string& yaml, const std::string& file_name,
                                  const std::vector<std::pair<std::string, std::string>>& files);

// True if a --set assignment names a section of cluster.topo (cluster, hosts, fabric, transport,
// faults, jitter, nccl).
bool IsClusterOverride(const std::string& assignment);
// For tools that read nothing but a cluster: says which of the --set assignments names no section
// of it. That is wrong usage, for it is wrong whatever the file holds; a wrong key or value is not.
Status CheckClusterOverrides(const std::vector<std::string>& assignments);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_CLUSTER_FILE_H_
