// Plans every distinct (call, group) pair of a workload. Groups of the same placement (the same
// pattern of hosts of the same kinds, the same GPUs) share plans, so the work grows with the number
// of distinct calls and placement patterns, not with the number of groups.
#ifndef DRYDOCK_SIMCCL_PLAN_PLAN_WORKLOAD_H_
#define DRYDOCK_SIMCCL_PLAN_PLAN_WORKLOAD_H_

#include <functional>

#include "core/base/result.h"
#include "core/model/flow_plan.h"
#include "core/model/workload.h"
#include "simccl/planner/collective_planner.h"

namespace drydock {

// Calls `progress` after each plan with the number of plans made so far and the number of all
// plans. The error names the call and a group that makes it.
Result<FlowPlan> PlanWorkload(const Workload& workload, CollectivePlanner* planner,
                              const std::function<void(size_t done, size_t of)>& progress);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PLAN_PLAN_WORKLOAD_H_
