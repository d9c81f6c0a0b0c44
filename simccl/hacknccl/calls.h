// Calls of core/nccl/hacknccl.h made on a real NCCL communicator. Its plans end up in the session
// (CapturePlan); no byte moves.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_CALLS_H_
#define DRYDOCK_SIMCCL_HACKNCCL_CALLS_H_

#include <vector>

#include "core/nccl/hacknccl.h"
#include "nccl.h"

namespace drydock {

ncclResult_t RunCollective(const hacknccl_call& call, ncclComm* comm);

// One group of sends and receives.
ncclResult_t RunMessages(const std::vector<hacknccl_message>& messages, ncclComm* comm);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_CALLS_H_
