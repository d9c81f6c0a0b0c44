// Checks that the programs of one plan can finish. A program runs its primitives in order. It waits
// for data on the connections it receives from, and for room in NCCL's buffers on the connections
// it sends to. No data is moved.
#ifndef DRYDOCK_SIMCCL_PLAN_PLAN_DEADLOCK_H_
#define DRYDOCK_SIMCCL_PLAN_PLAN_DEADLOCK_H_

#include "core/base/result.h"
#include "core/model/flow_plan.h"

namespace drydock {

// The error lists the cycle of members, channels and primitives. The time grows with the number of
// primitives.
Status CheckPlanDeadlock(const Plan& plan);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PLAN_PLAN_DEADLOCK_H_
