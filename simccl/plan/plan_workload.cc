#include "simccl/plan/plan_workload.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/model/calls/grouped_call.h"
#include "core/model/calls/rank_list.h"
#include "core/model/fabric/placement_pattern.h"

namespace drydock {
namespace {

// A Plan numbers members with 16 bits; -1 means none.
constexpr size_t kMaxMembers = INT16_MAX;

// The plans that a workload needs, in the order of the uses that first need them.
struct Needs {
  struct Plan {
    uint32_t call = 0;
    uint32_t group = 0;    // the first group that needs it
    uint32_t pattern = 0;  // index of the group's placement pattern
  };
  std::vector<Plan> plans;
  std::vector<FlowPlan::Assignment> assignments;
  uint32_t patterns = 0;
};

Needs FindNeeds(const Workload& workload, const Placement& placement) {
  Needs needs;
  std::map<PlacementPattern, uint32_t> patterns;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> plans;  // (call, pattern) -> plan
  std::vector<uint32_t> pattern_of_group;
  for (const Group& group : workload.groups) {
    const auto next = static_cast<uint32_t>(patterns.size());
    pattern_of_group.push_back(
        patterns.emplace(PlacementPatternOf(group.ranks, workload.topology, placement), next)
            .first->second);
  }
  for (const Workload::Use& use : workload.uses) {
    const uint32_t pattern = pattern_of_group[use.group];
    const auto next = static_cast<uint32_t>(needs.plans.size());
    const auto [entry, added] = plans.emplace(std::pair(use.call, pattern), next);
    if (added) needs.plans.push_back({use.call, use.group, pattern});
    needs.assignments.push_back({use.call, use.group, entry->second});
  }
  needs.patterns = static_cast<uint32_t>(patterns.size());
  return needs;
}

}  // namespace

Result<FlowPlan> PlanWorkload(const Workload& workload, CollectivePlanner* planner,
                              const std::function<void(size_t done, size_t of)>& progress) {
  const Placement placement(workload.topology);
  Needs needs = FindNeeds(workload, placement);
  std::vector<std::vector<uint32_t>> plans_of_pattern(needs.patterns);
  for (size_t p = 0; p < needs.plans.size(); ++p) {
    plans_of_pattern[needs.plans[p].pattern].push_back(static_cast<uint32_t>(p));
  }

  FlowPlan flow_plan;
  flow_plan.plans.resize(needs.plans.size());
  flow_plan.assignments = std::move(needs.assignments);
  size_t done = 0;
  for (const std::vector<uint32_t>& plans : plans_of_pattern) {
    if (plans.empty()) continue;  // a group that no call uses
    const Group& first = workload.groups[needs.plans[plans.front()].group];
    if (first.ranks.size() > kMaxMembers) {
      return Error(fmt::format("the group of ranks {} has {} members, a plan can have at most {}",
                               FirstRanksText(first.ranks), first.ranks.size(), kMaxMembers));
    }
    if (const Status opened = planner->OpenGroup(SlotsOf(first.ranks, placement)); !opened.ok()) {
      return Error(fmt::format("the group of ranks {}: {}", FirstRanksText(first.ranks),
                               opened.error().message()));
    }
    for (const uint32_t p : plans) {
      const CommCall& call = workload.calls[needs.plans[p].call];
      Result<Plan> plan = planner->PlanCall(call);
      if (!plan.ok()) {
        const Diagnostic& first_mistake = plan.error().diagnostics().front();
        return Error(fmt::format("{}, ranks {}: {}", NameOf(call),
                                 FirstRanksText(workload.groups[needs.plans[p].group].ranks),
                                 first_mistake.message),
                     first_mistake.location, first_mistake.source_line);
      }
      flow_plan.plans[p] = std::move(plan).value();
      progress(++done, needs.plans.size());
    }
  }
  return flow_plan;
}

}  // namespace drydock
