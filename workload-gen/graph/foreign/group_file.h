// Process groups in JSON, as Chakra's tools write them. Internal to import.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_GROUP_FILE_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_GROUP_FILE_H_

#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

using NamedGroups = std::map<std::string, std::vector<int>>;

// {"1": [0, 1], "2": [2, 3]}. Ranks are from 0 to below `rank_count`, each once in a group. Errors
// have line and column where the text is no JSON.
Result<NamedGroups> ParseGroupFile(const std::string& text, const std::string& path,
                                   int rank_count);

// [{"pg_name": "1", "ranks": [0, 1]}], as a METADATA node has it; groups without ranks are left
// out, and anything that is no such list says nothing: metadata is of many kinds. An error if a
// group contradicts one in *groups or has ranks that are none.
Status AddMetadataGroups(const std::string& text, const std::string& place, int rank_count,
                         NamedGroups* groups);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_GROUP_FILE_H_
