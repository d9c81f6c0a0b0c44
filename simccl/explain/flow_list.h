// A plan as a list of its point-to-point flows, for other tools: CSV, JSON, or a GOAL schedule
// (ATLAHS, LogGOPSim). Written as it is walked, so that a plan of a hundred million flows needs no
// more memory than one of ten. docs/how-to/see-what-nccl-picks.md says what the columns mean.
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

// A plan to list. `names` are what its members are called: ranks, or their own indices.
struct ListedPlan {
  size_t index = 0;
  const Plan* plan = nullptr;
  std::vector<int> names;
};

// CSV and JSON hold any number of plans; GOAL one.
void WriteFlows(const std::vector<ListedPlan>& plans, FlowFormat format, std::FILE* out);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPLAIN_FLOW_LIST_H_
