// Runs a plan on symbolic data and checks that every member ends with the data that the call
// defines. The oracle of the expansion's tests.
//
// Every element of a member's input is a distinct symbol, and a reduction adds symbols
// (symbolic_data.h). The cost grows with the primitives of the plan, not with the size of its
// buffers. Programs run in any order that their connections allow; the works of a channel run one
// after another. A plan in which no program can continue is a deadlock.
#ifndef DRYDOCK_SIMCCL_PROOF_INTERPRETER_H_
#define DRYDOCK_SIMCCL_PROOF_INTERPRETER_H_

#include <string>

#include "core/model/flow_plan.h"
#include "core/model/workload.h"

namespace drydock {

// Returns "" if the plan is right, else the first error.
std::string CheckPlan(const Plan& plan, const CommCall& call);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PROOF_INTERPRETER_H_
