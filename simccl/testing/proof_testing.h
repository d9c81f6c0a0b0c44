// Checks of plans for tests.
#ifndef DRYDOCK_SIMCCL_TESTING_PROOF_TESTING_H_
#define DRYDOCK_SIMCCL_TESTING_PROOF_TESTING_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/base/result.h"
#include "core/model/calls/grouped_call.h"
#include "core/model/flow_plan.h"
#include "simccl/plan/plan_deadlock.h"
#include "simccl/proof/interpreter.h"

namespace drydock {

// Returns "" if there is a plan, every rank ends with the data that the call defines, and no
// channels wait for each other in a cycle; else what is wrong.
inline std::string Wrong(const Result<Plan>& plan, const CommCall& call) {
  if (!plan.ok()) return plan.error().ToString();
  if (const Status free = CheckPlanDeadlock(*plan); !free.ok()) return free.error().ToString();
  return CheckPlan(*plan, call);
}

// Returns the plan. If it is wrong, fails the test.
inline Plan ProvenPlan(Result<Plan> plan, const CommCall& call) {
  EXPECT_EQ(Wrong(plan, call), "") << NameOf(call);
  return plan.ok() ? std::move(plan).value() : Plan();
}

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_TESTING_PROOF_TESTING_H_
