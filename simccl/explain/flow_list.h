// Lists the point-to-point flows of a plan for other tools, as CSV, JSON or a GOAL schedule
// (ATLAHS, LogGOPSim). Writes flows while walking the plan, so that memory does not grow with the
// number of flows. docs/how-to/see-what-nccl-picks.md explains the columns.
#ifndef DRYDOCK_SIMCCL_EXPLAIN_FLOW_LIST_H_
#define DRYDOCK_SIMCCL_EXPLAIN_FLOW_LIST_H_

#include <cstdio>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/flow_plan.h"

namespace drydock {

enum class FlowFormat { kCsv, kJson, kGoal };
Result<FlowFormat> ParseFlowFormat(const std::string& name);

// A plan to list. `names` are the numbers of its members in the list: ranks, or member indices.
struct ListedPlan {
  size_t index = 0;
  const Plan* plan = nullptr;
  std::vector<int> names;
};

// Writes the list. CSV and JSON hold any number of plans. REQUIRES: one plan for GOAL.
void WriteFlows(const std::vector<ListedPlan>& plans, FlowFormat format, std::FILE* out);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPLAIN_FLOW_LIST_H_
