// The steps of CheckWorkload. Internal to it.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_CHECK_PARTS_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_CHECK_PARTS_H_

#include "core/model/calls/call_graph.h"
#include "core/model/calls/rank_classes.h"
#include "workload-gen/graph/check/check.h"

namespace drydock {

void CheckStructure(const Workload& workload, Violations* out);

// Presumes the structure.
void CheckGroups(const Workload& workload, Violations* out);
// The table of uses. Presumes the groups.
void CheckUses(const Workload& workload, Violations* out);

// The workload with what hosts wait for (Op::host_waits) as dependencies: a host that waits issues
// nothing more, so the next op of every stream waits as well.
Workload WithHostWaits(const Workload& workload);

// Presumes the groups. Counts what it looked at in *report.
void CheckMatching(const Workload& workload, const RankClasses& classes,
                   const std::vector<ClassProgram>& programs, CheckReport* report);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_CHECK_PARTS_H_
