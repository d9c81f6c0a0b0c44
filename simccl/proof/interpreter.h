// Runs a plan on symbolic data and says whether every member ends with what its call promises. The
// oracle of the expansion's tests.
//
// Every element of a member's input is a distinct symbol, reductions add (symbolic_data.h): the
// cost is that of the plan's primitives, whatever the size of the buffers. Programs run in any
// order that their connections allow, the works of a channel one after another; a plan in which
// nothing can go on is a deadlock.
#ifndef DRYDOCK_SIMCCL_PROOF_INTERPRETER_H_
#define DRYDOCK_SIMCCL_PROOF_INTERPRETER_H_

#include <string>

#include "core/model/flow_plan.h"
#include "core/model/workload.h"

namespace drydock {

// "" if the plan does what the call promises, else what goes wrong first.
std::string CheckPlan(const Plan& plan, const CommCall& call);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PROOF_INTERPRETER_H_
