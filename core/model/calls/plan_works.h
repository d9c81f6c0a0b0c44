// What the works of a plan are, for people: most plans have one, those of grouped calls several.
#ifndef DRYDOCK_CORE_MODEL_CALLS_PLAN_WORKS_H_
#define DRYDOCK_CORE_MODEL_CALLS_PLAN_WORKS_H_

#include <string>
#include <vector>

#include "core/model/flow_plan.h"

namespace drydock {

// Works one after another with one algorithm and protocol.
struct WorkKind {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  int channels = 0;  // the most that one of them has
  int works = 1;
  auto operator<=>(const WorkKind&) const = default;
};

// In the order of the plan.
std::vector<WorkKind> WorkKindsOf(const Plan& plan);

// "ring LL128", "ring LL x2, send-recv Simple".
std::string ToString(const std::vector<WorkKind>& kinds);

int MostChannels(const std::vector<WorkKind>& kinds);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_PLAN_WORKS_H_
