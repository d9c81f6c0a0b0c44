// A topology file of SimAI given in place of a cluster file. Internal to core/schema/cluster.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_SIMAI_CLUSTER_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_SIMAI_CLUSTER_H_

#include <string>
#include <vector>

#include "core/base/yaml.h"

namespace drydock {

// Returns true if the first line is "nodes gpus_per_server nvswitches switches links GPU".
bool IsSimaiTopology(const std::string& text);

// Returns the sections of a cluster file. SimAI's file has servers, NICs and cables; hosts,
// switches and transport are those of the shipped cluster of its GPU, and NVLinks too (SimAI states
// the rate of its model, not that of the links). The fabric is of the kind `simai` and names the
// file.
Result<YamlNode> ClusterOfSimai(const std::string& text, const std::string& path);

// Returns the names of files of SimAI's settings beside a topology file: SimAI.conf, astra.params.
std::vector<std::string> SimaiConfsBeside(const std::string& path);

// Replaces `conf`, one file of SimAI's settings or several, of a fabric of the kind `simai` by the
// keys of a cluster file that they decide. Other kinds keep `conf`, an unknown key. `path`: the
// cluster file. Without `replace`, keys that `root` has already keep their values. Adds to *notes
// which settings are read in another way and which have no effect.
Status ApplySimaiConfs(const std::string& path, bool replace, YamlNode* root,
                       std::vector<std::string>* notes);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_SIMAI_CLUSTER_H_
