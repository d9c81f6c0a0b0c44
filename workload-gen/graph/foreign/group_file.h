// Reads process groups in the JSON of Chakra's tools. Internal to import.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_GROUP_FILE_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_GROUP_FILE_H_

#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

using NamedGroups = std::map<std::string, std::vector<int>>;

// Parses {"1": [0, 1], "2": [2, 3]}. Ranks are at least 0 and less than `rank_count`, and occur
// once in a group. An error in the syntax of JSON has a line and a column.
Result<NamedGroups> ParseGroupFile(const std::string& text, const std::string& path,
                                   int rank_count);

// Adds the groups of a METADATA node, [{"pg_name": "1", "ranks": [0, 1]}]. Groups without ranks are
// skipped, and so is any other text, because metadata has many kinds. Returns an error if a group
// differs from the one of the same name in *groups, or has invalid ranks.
Status AddMetadataGroups(const std::string& text, const std::string& place, int rank_count,
                         NamedGroups* groups);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_GROUP_FILE_H_
