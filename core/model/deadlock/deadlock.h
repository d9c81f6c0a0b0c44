// Whether a workload's communication can finish: every rank works through its program, the ops of a
// stream one after another, and calls of all communicators wait for their members. Time plays no
// part. What can happen happens, until everything has ended or nothing can go on.
//
//   collective   ends on a member when all whom it waits for (wait_sets.h) have begun it
//   receive      ends when its send has begun
//   send         ends when its receive has begun, or at once while it fits into the connection's
//                buffer beside what else is on its way
//
// Without a plan a collective waits for all its members, and the caller says what a send does.
//
// The work grows with the programs' length and the number of classes of ranks (rank_classes.h), not
// with the number of ranks.
#ifndef DRYDOCK_CORE_MODEL_DEADLOCK_DEADLOCK_H_
#define DRYDOCK_CORE_MODEL_DEADLOCK_DEADLOCK_H_

#include "core/base/result.h"
#include "core/model/flow_plan.h"
#include "core/model/workload.h"

namespace drydock {

// The error tells the circle: which rank is in which op of which communicator and waits for whom;
// or the rank that never makes a call others wait in; or two members whose calls do not match.
// `workload` has its programs; `plan` is its plan.
Status CheckDeadlock(const Workload& workload, const FlowPlan& plan);

// Sends whose buffers nobody knows: all wait for their receives, or none does.
enum class UnplannedSends : uint8_t { kWait, kEnd };
Status CheckDeadlock(const Workload& workload, UnplannedSends sends);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_DEADLOCK_DEADLOCK_H_
