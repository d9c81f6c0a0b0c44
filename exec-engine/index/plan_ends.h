// The ends of a plan's connections, numbered by member: the programs of a member name connections
// one after another, and end n of the member is the n-th connection that they name for the first
// time. Members with equal programs have corresponding ends, even if their connections differ.
#ifndef DRYDOCK_EXEC_ENGINE_INDEX_PLAN_ENDS_H_
#define DRYDOCK_EXEC_ENGINE_INDEX_PLAN_ENDS_H_

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/containers/partition_refinement.h"
#include "core/model/flow_plan.h"

namespace drydock {

inline constexpr uint32_t kNoEnd = UINT32_MAX;

// Returns the pattern with the bytes of each step spread evenly over the chunks of its ring: it
// moves as many bytes, and is the same at every position of the ring.
Pattern Spread(const Pattern& pattern);

struct PlanEnds {
  std::vector<std::vector<uint32_t>> of_member;  // connections
  std::vector<uint32_t> at_sender, at_receiver;  // by connection: the number of that member's end
  // Numbers of contents: equal numbers, even of different plans, mean equal contents.
  std::vector<int> patterns, spread;  // by pattern: as it is, and Spread
  int works = 0;                      // of all works
  std::vector<bool> by_position;      // by pattern: differs by the position on the ring

  uint32_t at(uint32_t connection, bool sender) const {
    return (sender ? at_sender : at_receiver)[connection];
  }
};

// The ends of many plans, each found once. References stay valid as long as the table.
class PlanEndsTable {
 public:
  const PlanEnds& Of(const Plan& plan);

 private:
  std::unique_ptr<PlanEnds> Find(const Plan& plan);

  std::unordered_map<const Plan*, std::unique_ptr<PlanEnds>> ends_;  // only looked up
  SignatureNumbers<> patterns_, works_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_INDEX_PLAN_ENDS_H_
