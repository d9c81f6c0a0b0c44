// Runs a plan on symbolic data and checks that every member ends with the data that the call
// defines. The oracle of the expansion's tests, and the judge of custom algorithms.
//
// Every element of a member's input is a distinct symbol, and a reduction adds symbols
// (symbolic_data.h). The cost grows with the primitives of the plan, not with the size of its
// buffers. Programs run in any order that their connections allow; the works of a channel run one
// after another. A plan in which no program can continue is a deadlock.
#ifndef DRYDOCK_SIMCCL_PROOF_INTERPRETER_H_
#define DRYDOCK_SIMCCL_PROOF_INTERPRETER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/flow_plan.h"
#include "core/model/workload.h"

namespace drydock {

// What a plan may do besides what NCCL's plans do.
struct ProofRules {
  int64_t scratch = 0;      // bytes of memory of its own that each member has behind the buffer
  bool overwrites = false;  // stores where it stored before
  bool in_place = false;    // the output holds the member's own input at first
  bool last_first = false;  // of programs that may run, the last goes first
};

struct PlanMistake {
  int member = -1;  // that cannot go on, or ends with the wrong data; -1: none in particular
  std::string what;
};

// Returns the first mistake, if any.
std::optional<PlanMistake> FindPlanMistake(const Plan& plan, const CommCall& call,
                                           const ProofRules& rules);

// Returns "" if the plan is right, else the first error.
std::string CheckPlan(const Plan& plan, const CommCall& call);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PROOF_INTERPRETER_H_
