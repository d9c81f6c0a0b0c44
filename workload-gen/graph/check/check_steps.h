// The steps of CheckWorkload. Internal to it.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_CHECK_STEPS_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_CHECK_STEPS_H_

#include "core/model/calls/call_graph.h"
#include "core/model/calls/rank_classes.h"
#include "workload-gen/graph/check/check.h"

namespace drydock {

void CheckStructure(const Workload& workload, Violations* out);

// REQUIRES: CheckStructure found no violation.
void CheckGroups(const Workload& workload, Violations* out);
// Checks the table of uses. REQUIRES: CheckGroups found no violation.
void CheckUses(const Workload& workload, Violations* out);

// Returns the workload with the waits of hosts (Op::host_waits) as dependencies. A host that waits
// issues no op, so the next op of each stream waits as well.
Workload WithHostWaits(const Workload& workload);

// Counts the checked items in *report. REQUIRES: CheckGroups found no violation.
void CheckMatching(const Workload& workload, const RankClasses& classes,
                   const std::vector<ClassProgram>& programs, CheckReport* report);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_CHECK_CHECK_STEPS_H_
