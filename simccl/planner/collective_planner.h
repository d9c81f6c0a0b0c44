// The seam through which communication calls become flow plans. A planner decides how a call moves
// its data; simccl/planner_table.h lists the planners.
#ifndef DRYDOCK_SIMCCL_PLANNER_COLLECTIVE_PLANNER_H_
#define DRYDOCK_SIMCCL_PLANNER_COLLECTIVE_PLANNER_H_

#include <span>

#include "core/base/result.h"
#include "core/model/flow_plan.h"
#include "core/model/topology.h"
#include "core/model/workload.h"

namespace drydock {

// Plans calls over one group after another. Not thread-safe.
class CollectivePlanner {
 public:
  virtual ~CollectivePlanner() = default;

  // Opens the group whose members live at `members`, in member order.
  virtual Status OpenGroup(std::span<const Placement::Slot> members) = 0;

  // Returns the plan of `call` over the group opened last.
  //   - A plan names members, not ranks: groups of the same placement have the same plan.
  //   - Every member ends with the data that the collective defines (simccl/proof/interpreter.h
  //     checks it).
  //   - A decision that cannot be expanded is an error that names the decision. Another
  //     algorithm never replaces it.
  //   - The plan depends on the group and the call alone, not on what was planned before.
  // REQUIRES: OpenGroup has succeeded.
  virtual Result<Plan> PlanCall(const CommCall& call) = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PLANNER_COLLECTIVE_PLANNER_H_
