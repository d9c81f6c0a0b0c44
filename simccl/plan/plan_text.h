// Flow plans as text for people.
#ifndef DRYDOCK_SIMCCL_PLAN_PLAN_TEXT_H_
#define DRYDOCK_SIMCCL_PLAN_PLAN_TEXT_H_

#include <string>

#include "core/model/flow_plan.h"

namespace drydock {

// Returns one line: the call, its algorithm and protocol, and its channels.
std::string Headline(const Plan& plan);
// Returns the headline and each member's programs; with `steps` also every step.
std::string PlanText(const Plan& plan, bool steps);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PLAN_PLAN_TEXT_H_
