// Translates a workload's call into the NCCL calls that its members make.
#ifndef DRYDOCK_SIMCCL_NCCL_NCCL_CALLS_H_
#define DRYDOCK_SIMCCL_NCCL_NCCL_CALLS_H_

#include "core/model/workload.h"
#include "core/nccl/nccl_library.h"
#include "simccl/expand/expand.h"

namespace drydock {

// Returns true if NCCL serves this collective with messages over point-to-point connections.
bool IsMessages(CollectiveType type);

// Returns the call as one member makes it. NCCL counts one part: what a rank contributes or
// receives. REQUIRES: NCCL has a function for the collective. Frameworks make send-recv,
// all-to-all-v and grouped calls out of others.
hacknccl_call AsNcclCall(const CommCall& call);

// Returns what each member calls, and where the data of each call lies in the group's buffer.
// REQUIRES: CheckCallShape(call) is OK.
GroupOfCalls CallsOf(const CommCall& call);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_NCCL_NCCL_CALLS_H_
