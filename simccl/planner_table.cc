#include "simccl/planner_table.h"

#include <fmt/format.h>

#include <utility>

#include "simccl/custom/custom_planner.h"
#include "simccl/nccl/nccl_planner.h"
#include "simccl/tokens/token_planner.h"
#include "simccl/userbuffers/userbuffers_planner.h"

namespace drydock {
namespace {

constexpr PlannerChoice kChoices[] = {
    {"nccl", false, "what NCCL 2.29.7 itself decides for this cluster (libhacknccl.so)",
     [](const Topology& topology, const PlannerOptions& options) {
       return MakeNcclPlanner(topology, options.nccl_library);
     }},
    {"custom", true,
     "an algorithm of MSCCL (XML), for the calls that it is for; NCCL decides all others",
     [](const Topology& topology,
        const PlannerOptions& options) -> Result<std::unique_ptr<CollectivePlanner>> {
       ASSIGN_OR_RETURN(std::unique_ptr<CollectivePlanner> nccl,
                        MakeNcclPlanner(topology, options.nccl_library));
       return MakeCustomPlanner(topology, options.file, options.nccl_library, std::move(nccl));
     }},
};

}  // namespace

std::span<const PlannerChoice> PlannerChoices() { return kChoices; }

std::string FileOfPlanner(const std::string& name) {
  const size_t colon = name.find(':');
  return colon == std::string::npos ? "" : name.substr(colon + 1);
}

std::string UsageOf(const PlannerChoice& choice) {
  return std::string(choice.name) + (choice.has_file ? ":FILE" : "");
}

Result<const PlannerChoice*> FindPlanner(const std::string& name) {
  std::string names;
  const std::string file = FileOfPlanner(name);
  for (const PlannerChoice& choice : kChoices) {
    const std::string given = name.substr(0, name.find(':'));
    if (given == choice.name && choice.has_file && file.empty()) {
      return Error(fmt::format("--planner {} needs a file: {}", name, UsageOf(choice)));
    }
    if (given == choice.name && choice.has_file == (name != given)) return &choice;
    names += std::string(names.empty() ? "" : ", ") + UsageOf(choice);
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
