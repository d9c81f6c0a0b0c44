// The groups that SimAI and ASTRA-sim 1 create for a workload file. Internal to import.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_SIMAI_GROUPS_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_SIMAI_GROUPS_H_

#include <string>

#include "core/base/result.h"
#include "workload-gen/graph/foreign/simai_file.h"

namespace drydock {

enum class SimaiRole : uint8_t { kTensor, kData, kExpert, kExpertData, kWorld, kNone };
inline constexpr size_t kSimaiRoles = 5;

struct SimaiGroups {
  // Returns the role of a collective: by its suffix, or else by the policy's split of the column.
  // Returns kNone if its groups have one rank.
  SimaiRole RoleOf(SimaiPolicy policy, SimaiSpan span, SimaiPass pass) const;

  int size[kSimaiRoles] = {1, 1, 1, 1, 1};
  int index[kSimaiRoles] = {-1, -1, -1, -1, -1};  // in Workload::roles
};

// Fills roles, groups and group_of_rank for file.gpus ranks:
//   tensor       neighbors                                 data         every (gpus / DP)-th rank
//   expert       the same tensor rank of E tensor groups   expert-data  every (E * TP)-th of a copy
// Returns an error if the sizes do not divide each other.
Result<SimaiGroups> MakeSimaiGroups(const SimaiFile& file, const std::string& path,
                                    Workload* workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_SIMAI_GROUPS_H_
