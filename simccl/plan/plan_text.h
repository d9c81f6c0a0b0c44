// Flow plans as text, for people.
#ifndef DRYDOCK_SIMCCL_PLAN_PLAN_TEXT_H_
#define DRYDOCK_SIMCCL_PLAN_PLAN_TEXT_H_

#include <string>

#include "core/model/flow_plan.h"

namespace drydock {

// One line: what, by which algorithm and protocol, over how many channels.
std::string Headline(const Plan& plan);
// The headline, then each member's programs; `steps` writes out every step.
std::string PlanText(const Plan& plan, bool steps);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PLAN_PLAN_TEXT_H_
