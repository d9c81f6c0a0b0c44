// A call of a workload as its members put it to NCCL.
#ifndef DRYDOCK_SIMCCL_PLAN_NCCL_CALLS_H_
#define DRYDOCK_SIMCCL_PLAN_NCCL_CALLS_H_

#include <cstdint>

#include "core/model/workload.h"
#include "core/nccl/nccl_library.h"
#include "simccl/expand/expand.h"

namespace drydock {

// Equal parts that the call's count is made of: one per member, or the whole.
int64_t PartsOf(const CommCall& call);

// True if NCCL makes messages of it, over connections between each two members.
bool IsMessages(CollectiveType type);

// NCCL counts one part: what a rank contributes or receives. Not for calls that frameworks make of
// others themselves (send-recv, all-to-all-v, grouped).
hacknccl_call AsNcclCall(const CommCall& call);

// What the members call, and where its data lies in the call's buffer. The call's size divides
// among the members.
GroupOfCalls CallsOf(const CommCall& call);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PLAN_NCCL_CALLS_H_
