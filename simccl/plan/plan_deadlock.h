// Whether the programs of one plan can finish: each works through its primitives in order, waits
// for data on what it receives from and for room on what it sends to, as deep as NCCL's buffers
// are. No data is moved.
#ifndef DRYDOCK_SIMCCL_PLAN_PLAN_DEADLOCK_H_
#define DRYDOCK_SIMCCL_PLAN_PLAN_DEADLOCK_H_

#include "core/base/result.h"
#include "core/model/flow_plan.h"

namespace drydock {

// The error tells the circle of members, channels and primitives. Its time grows with the number of
// primitives.
Status CheckPlanDeadlock(const Plan& plan);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PLAN_PLAN_DEADLOCK_H_
