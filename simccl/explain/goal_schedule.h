// A plan as a GOAL schedule: per member its sends and receives and which of them come after which.
#ifndef DRYDOCK_SIMCCL_EXPLAIN_GOAL_SCHEDULE_H_
#define DRYDOCK_SIMCCL_EXPLAIN_GOAL_SCHEDULE_H_

#include <cstdio>

#include "core/model/flow_plan.h"

namespace drydock {

// Ranks are members; a tag is a connection, a cpu a channel, a NIC the sender's or receiver's own.
// A receive waits until the primitive before it is done, or, where that one sends, until it has
// begun to: NCCL's sends go into buffers. What a member passes to itself is a calc of no length.
void WriteGoal(const Plan& plan, std::FILE* out);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPLAIN_GOAL_SCHEDULE_H_
