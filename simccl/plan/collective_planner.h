// The seam through which communication calls become flow plans.
#ifndef DRYDOCK_SIMCCL_PLAN_COLLECTIVE_PLANNER_H_
#define DRYDOCK_SIMCCL_PLAN_COLLECTIVE_PLANNER_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/calls/grouped_call.h"
#include "core/model/flow_plan.h"
#include "core/model/topology.h"
#include "core/model/workload.h"

namespace drydock {

// Plans calls over one group after another. Contract:
//   - OpenGroup comes first; PlanCall plans over the group opened last.
//   - A plan is about members, not ranks: the same for every group whose members sit alike.
//   - Every member ends with what the collective promises (simccl/proof/interpreter.h checks it).
//   - A decision that cannot be expanded is an error that names it, never another algorithm.
//   - The same inputs give the same plan, whatever was planned before.
// Not thread-safe.
class CollectivePlanner {
 public:
  virtual ~CollectivePlanner() = default;
  // Where the members live, in member order.
  virtual Status OpenGroup(std::span<const Placement::Slot> members) = 0;
  virtual Result<Plan> PlanCall(const CommCall& call) = 0;
};

struct PlannerOptions {
  std::string nccl_library;  // empty: where set-up put it
};

struct PlannerChoice {
  const char* name;
  const char* summary;
  // `topology` must outlive the planner.
  Result<std::unique_ptr<CollectivePlanner>> (*make)(const Topology& topology,
                                                     const PlannerOptions& options);
};
// The first is the default.
std::span<const PlannerChoice> PlannerChoices();
// An error that lists the choices if there is none of that name.
Result<const PlannerChoice*> FindPlanner(const std::string& name);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PLAN_COLLECTIVE_PLANNER_H_
