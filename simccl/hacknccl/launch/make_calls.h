// Makes calls of the C interface through NCCL's own functions, on addresses without memory.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_LAUNCH_MAKE_CALLS_H_
#define DRYDOCK_SIMCCL_HACKNCCL_LAUNCH_MAKE_CALLS_H_

#include <string>
#include <vector>

#include "core/nccl/hacknccl.h"
#include "nccl.h"

namespace drydock {

// Returns "" if the calls are safe to make, else what would overflow or index out of bounds inside
// NCCL. NCCL itself checks the rest.
std::string CheckCalls(const std::vector<hacknccl_call>& calls, int ranks);

// Returns true if any of the calls has registered buffers.
bool HaveRegistered(const std::vector<hacknccl_call>& calls);

// Makes all calls in one group, as the communicator's own rank. Registers their buffers before, as
// the calls state, and deregisters them after.
ncclResult_t MakeCalls(const std::vector<hacknccl_call>& calls, ncclComm* comm);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_LAUNCH_MAKE_CALLS_H_
