// Reduces the tables of a Workload to the entries that its programs use.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_TABLE_FINISH_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_TABLE_FINISH_H_

#include "core/model/workload.h"

namespace drydock {

// Drops submodules that no block uses, and numbers the others in order of first use.
void DropUnusedSubmodules(Workload* workload);

// Fills Workload::uses: every (call, group) of an op of any rank.
void CollectUses(Workload* workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_TABLE_FINISH_H_
