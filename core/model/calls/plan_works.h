// Describes the works of a plan as text. Most plans have one work, those of grouped calls several.
#ifndef DRYDOCK_CORE_MODEL_CALLS_PLAN_WORKS_H_
#define DRYDOCK_CORE_MODEL_CALLS_PLAN_WORKS_H_

#include <string>
#include <vector>

#include "core/model/flow_plan.h"

namespace drydock {

// Consecutive works with one algorithm and protocol.
struct WorkKind {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  int channels = 0;  // the maximum of one work
  int works = 1;
  auto operator<=>(const WorkKind&) const = default;
};

// Returns the kinds in the order of the plan.
std::vector<WorkKind> WorkKindsOf(const Plan& plan);

// Returns "ring LL128" or "ring LL x2, send-recv Simple".
std::string ToString(const std::vector<WorkKind>& kinds);

int MaxChannels(const std::vector<WorkKind>& kinds);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_PLAN_WORKS_H_
