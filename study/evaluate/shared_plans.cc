#include "study/evaluate/shared_plans.h"

#include <algorithm>

#include "core/base/check.h"

namespace drydock {

size_t SharedPlans::HashOfMembers::operator()(const Members& members) const {
  size_t hash = members.size();
  for (const auto& [host, gpu] : members) {
    hash =
        hash * 0x9e3779b97f4a7c15ULL + static_cast<size_t>(host) * 131 + static_cast<size_t>(gpu);
  }
  return hash;
}

Status SharedPlans::OpenGroup(std::span<const Placement::Slot> members) {
  Members key;
  for (const Placement::Slot& slot : members) key.emplace_back(slot.host, slot.gpu);
  members_ = &groups_.try_emplace(std::move(key)).first->first;
  open_ = false;
  return OkStatus();
}

Result<Plan> SharedPlans::PlanCall(const CommCall& call) {
  CHECK(members_ != nullptr);
  Group& group = groups_.at(*members_);
  const auto known = std::find_if(group.begin(), group.end(),
                                  [&](const auto& each) { return each.first == call; });
  if (known != group.end()) {
    ++shared_;
    return known->second;
  }
  if (!open_) {
    std::vector<Placement::Slot> slots;
    for (const auto& [host, gpu] : *members_) slots.push_back({host, gpu});
    RETURN_IF_ERROR(planner_->OpenGroup(slots));
    open_ = true;
  }
  ASSIGN_OR_RETURN(Plan plan, planner_->PlanCall(call));
  ++made_;
  group.emplace_back(call, plan);
  return plan;
}

}  // namespace drydock
