// Reads cluster.topo (docs/reference/cluster-file.md) into a Topology: hosts, fabric (generated or
// explicit), transport, NCCL settings. Reports all mistakes at once, with their places.
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

// A cluster and its texts. ParseCluster reads the same cluster from the texts, without the files.
struct ClusterInput {
  Topology topology;
  Variation variation;
  std::string yaml;                                        // overrides applied
  std::vector<std::pair<std::string, std::string>> files;  // GPU files and NCCL XMLs, by name
  // Names and values of topology.nccl_settings, in order. They keep their locations because NCCL
  // finds mistakes in them later.
  std::vector<std::pair<YamlNode, YamlNode>> nccl_settings;
  // For the user: settings of SimAI that are read in another way or not at all.
  std::vector<std::string> notes;
};

// `overrides`: the --set assignments that concern the cluster (see IsClusterOverride).
// Looks for GPU specifications in gpus/ beside the folder of the cluster file, then in the configs
// of this build.
Result<ClusterInput> LoadCluster(const std::string& path,
                                 const std::vector<std::string>& overrides);

// Reads a cluster from texts, such as the copies in an artefact.
Result<ClusterInput> ParseCluster(const std::string& yaml, const std::string& file_name,
                                  const std::vector<std::pair<std::string, std::string>>& files);

// Returns true if a --set assignment names a section of cluster.topo (cluster, hosts, fabric,
// transport, faults, jitter, nccl, cost, storage).
bool IsClusterOverride(const std::string& assignment);
// For tools that read only a cluster: returns an error if a --set assignment names no section of
// it. Such an assignment is wrong usage, because it is invalid for every file; a wrong key or value
// is bad input.
Status CheckClusterOverrides(const std::vector<std::string>& assignments);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_CLUSTER_FILE_H_
