// The groups that SimAI and ASTRA-sim 1 lay out for a workload file. Internal to import.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_SIMAI_GROUPS_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_SIMAI_GROUPS_H_

#include <string>

#include "core/base/result.h"
#include "workload-gen/graph/foreign/simai_file.h"

namespace drydock {

enum class SimaiRole : uint8_t { kTensor, kData, kExpert, kExpertData, kWorld, kNobody };
inline constexpr size_t kSimaiRoles = 5;

struct SimaiGroups {
  // The role that a collective has: by suffix, else by what the policy splits in that column.
  // kNobody: its groups have one rank.
  SimaiRole RoleOf(SimaiPolicy policy, SimaiSpan span, SimaiPass pass) const;

  int size[kSimaiRoles] = {1, 1, 1, 1, 1};
  int index[kSimaiRoles] = {-1, -1, -1, -1, -1};  // in Workload::roles
};

// Fills roles, groups and group_of_rank for file.gpus ranks:
//   tensor       neighbours                                data         every (gpus / DP)-th rank
//   expert       the same tensor rank of E tensor groups   expert-data  every (E * TP)-th of a copy
// An error if the sizes do not divide one another.
Result<SimaiGroups> MakeSimaiGroups(const SimaiFile& file, const std::string& path,
                                    Workload* workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_SIMAI_GROUPS_H_
