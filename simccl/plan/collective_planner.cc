#include "simccl/plan/collective_planner.h"

#include <fmt/format.h>

#include "simccl/plan/nccl_planner.h"

namespace drydock {
namespace {

constexpr PlannerChoice kChoices[] = {
    {"nccl", "what NCCL 2.29.7 itself decides for this cluster (libhacknccl.so)", MakeNcclPlanner},
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

}  // namespace drydock
