// Last touches on a Workload whose programs are written: tables hold only what occurs.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_TABLE_FINISH_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_TABLE_FINISH_H_

#include "core/model/workload.h"

namespace drydock {

// Drops submodules no block names and numbers the rest in order of first use.
void DropUnusedSubmodules(Workload* workload);

// Fills Workload::uses: every (call, group) some op of some rank makes.
void CollectUses(Workload* workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_TABLE_FINISH_H_
