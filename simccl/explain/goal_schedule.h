// Writes a plan as a GOAL schedule: the sends and receives of each member, and their order.
#ifndef DRYDOCK_SIMCCL_EXPLAIN_GOAL_SCHEDULE_H_
#define DRYDOCK_SIMCCL_EXPLAIN_GOAL_SCHEDULE_H_

#include <cstdio>

#include "core/model/flow_plan.h"

namespace drydock {

// A rank is a member, a tag is a connection, a cpu is a channel, and a nic is the NIC of the sender
// or receiver. A receive waits until the primitive before it has ended; if that primitive sends,
// until it has begun, since NCCL sends into buffers. Data that a member passes to itself is a calc
// of length 0.
void WriteGoal(const Plan& plan, std::FILE* out);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPLAIN_GOAL_SCHEDULE_H_
