// The planner that asks NCCL: creates the communicator of a group on the virtual cluster, makes the
// call, and expands what NCCL would have launched.
#ifndef DRYDOCK_SIMCCL_PLAN_NCCL_PLANNER_H_
#define DRYDOCK_SIMCCL_PLAN_NCCL_PLANNER_H_

#include <memory>

#include "simccl/plan/collective_planner.h"

namespace drydock {

// Errors: no library, hosts or settings NCCL refuses.
Result<std::unique_ptr<CollectivePlanner>> MakeNcclPlanner(const Topology& topology,
                                                           const PlannerOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PLAN_NCCL_PLANNER_H_
