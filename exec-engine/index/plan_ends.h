// The ends of a plan's connections as its members come to them: a member's programs name them one
// after another, and its n-th end is the n-th connection that they name for the first time. Members
// that run alike have ends alike, whatever connections those are.
#ifndef DRYDOCK_EXEC_ENGINE_INDEX_PLAN_ENDS_H_
#define DRYDOCK_EXEC_ENGINE_INDEX_PLAN_ENDS_H_

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/model/flow_plan.h"

namespace drydock {

inline constexpr uint32_t kNoEnd = UINT32_MAX;

// The pattern with what is left over for the last chunks of a ring spread over all of them: it is
// the same wherever one stands, and moves what it did.
Pattern Spread(const Pattern& pattern);

struct PlanEnds {
  explicit PlanEnds(const Plan& plan);

  std::vector<std::vector<uint32_t>> of_member;  // connections
  std::vector<uint32_t> at_sender, at_receiver;  // by connection: which end of that member's
  std::vector<uint64_t> patterns;                // what a pattern is, as a number
  std::vector<uint64_t> spread;                  // likewise, spread
  std::vector<bool> by_position;                 // by pattern: where one stands on the ring matters
  uint64_t works = 0;                            // what the works are, as a number

  uint32_t at(uint32_t connection, bool sender) const {
    return (sender ? at_sender : at_receiver)[connection];
  }
};

// Those of many plans, each found once. What it gives lasts as long as this.
class PlanEndsTable {
 public:
  const PlanEnds& Of(const Plan& plan) {
    std::unique_ptr<PlanEnds>& ends = ends_[&plan];
    if (ends == nullptr) ends = std::make_unique<PlanEnds>(plan);
    return *ends;
  }

 private:
  std::unordered_map<const Plan*, std::unique_ptr<PlanEnds>> ends_;  // only looked up
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_INDEX_PLAN_ENDS_H_
