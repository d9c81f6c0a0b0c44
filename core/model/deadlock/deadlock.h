// Checks whether a workload's communication can finish. Every rank runs its program, the ops of a
// stream in order, and calls wait for their members. Times do not matter: the check takes every
// possible step until all ops have ended or no step is possible.
//
//   collective   ends on a member when all members it waits for (wait_sets.h) have begun it
//   receive      ends when its send has begun
//   send         ends when its receive has begun, or at once while it fits into the connection's
//                buffer together with the other sends in flight
//
// Without a plan a collective waits for all its members, and the caller chooses what a send does.
//
// The time grows with the length of programs and the number of rank classes (rank_classes.h), not
// with the number of ranks.
#ifndef DRYDOCK_CORE_MODEL_DEADLOCK_DEADLOCK_H_
#define DRYDOCK_CORE_MODEL_DEADLOCK_DEADLOCK_H_

#include "core/base/result.h"
#include "core/model/flow_plan.h"
#include "core/model/workload.h"

namespace drydock {

// The error describes the cycle: which rank is in which op of which communicator and waits for
// which rank; or a rank that never makes a call in which others wait; or two members whose calls
// differ. REQUIRES: `workload` has its programs; `plan` is its plan.
Status CheckDeadlock(const Workload& workload, const FlowPlan& plan);

// Without a plan, buffers are unknown: either all sends wait for their receives, or none does.
enum class UnplannedSends : uint8_t { kWait, kEnd };
Status CheckDeadlock(const Workload& workload, UnplannedSends sends);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_DEADLOCK_DEADLOCK_H_
