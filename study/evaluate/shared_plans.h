// A planner that asks another one only for what it was not asked before.
#ifndef DRYDOCK_STUDY_EVALUATE_SHARED_PLANS_H_
#define DRYDOCK_STUDY_EVALUATE_SHARED_PLANS_H_

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simccl/planner/collective_planner.h"

namespace drydock {

// Plans of one cluster. A plan depends on the members of its group and the call alone
// (collective_planner.h), so a later workload gets the same one.
class SharedPlans final : public CollectivePlanner {
 public:
  explicit SharedPlans(std::unique_ptr<CollectivePlanner> planner) : planner_(std::move(planner)) {}

  Status OpenGroup(std::span<const Placement::Slot> members) override;
  Result<Plan> PlanCall(const CommCall& call) override;

  int64_t made() const { return made_; }
  int64_t shared() const { return shared_; }

 private:
  using Members = std::vector<std::pair<int, int>>;  // host, GPU
  struct HashOfMembers {
    size_t operator()(const Members& members) const;
  };
  using Group = std::vector<std::pair<CommCall, Plan>>;

  const std::unique_ptr<CollectivePlanner> planner_;
  std::unordered_map<Members, Group, HashOfMembers> groups_;
  const Members* members_ = nullptr;  // of the group opened last
  bool open_ = false;                 // in `planner_`
  int64_t made_ = 0, shared_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_STUDY_EVALUATE_SHARED_PLANS_H_
