// Calls of the C interface, made to NCCL's own functions on addresses that stand for buffers.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_CALLS_H_
#define DRYDOCK_SIMCCL_HACKNCCL_CALLS_H_

#include <string>
#include <vector>

#include "core/nccl/hacknccl.h"
#include "nccl.h"

namespace drydock {

// "" if NCCL may be asked, else what it would overflow or index out of bounds with. What NCCL
// checks itself is left to it.
std::string CheckCalls(const std::vector<hacknccl_call>& calls, int ranks);

// Any of their buffers is known to NCCL.
bool HaveRegistered(const std::vector<hacknccl_call>& calls);

// All of them in one group, as the communicator's own rank. Their buffers are registered before, as
// the calls say, and no longer after.
ncclResult_t MakeCalls(const std::vector<hacknccl_call>& calls, ncclComm* comm);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_CALLS_H_
