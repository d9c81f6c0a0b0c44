#include "simccl/planner_table.h"

#include <fmt/format.h>

#include <utility>

#include "simccl/nccl/nccl_planner.h"
#include "simccl/tokens/token_planner.h"
#include "simccl/userbuffers/userbuffers_planner.h"

namespace drydock {
namespace {

constexpr PlannerChoice kChoices[] = {
    {"nccl", "what NCCL 2.29.7 itself decides for this cluster (libhacknccl.so)",
     [](const Topology& topology, const PlannerOptions& options) {
       return MakeNcclPlanner(topology, options.nccl_library);
     }},
};

}  // namespace

std::span<const PlannerChoice> PlannerChoices() { return kChoices; }

Result<const PlannerChoice*> FindPlanner(const std::string& name) {
  std::string names;
  for (const PlannerChoice& choice : kChoices) {
    if (name == choice.name) return &choice;
    names += std::string(names.empty() ? "" : ", ") + choice.name;
  }
  return Error(fmt::format("there is no planner '{}'; planners are: {}", name, names));
}

Result<std::unique_ptr<CollectivePlanner>> MakePlanner(const PlannerChoice& choice,
                                                       const Topology& topology,
                                                       const PlannerOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<CollectivePlanner> planner, choice.make(topology, options));
  return MakeTokenPlanner(topology, MakeUserBuffersPlanner(std::move(planner)));
}

}  // namespace drydock
