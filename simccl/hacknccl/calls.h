// Calls of the C interface, made to NCCL's own functions on addresses that stand for buffers.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_CALLS_H_
#define DRYDOCK_SIMCCL_HACKNCCL_CALLS_H_

#include <string>
#include <vector>

#include "core/nccl/hacknccl.h"
#include "nccl.h"
#include "nccl_common.h"

namespace drydock {

// "" if NCCL may be asked, else what it would overflow or index out of bounds with. What NCCL
// checks itself is left to it.
std::string CheckCalls(const std::vector<hacknccl_call>& calls, int ranks);

// Which of them a task of NCCL's is, by where its buffers lie.
int CallAt(ncclFunc_t function, const void* send, const void* receive);

// All of them in one group, as the communicator's own rank.
ncclResult_t MakeCalls(const std::vector<hacknccl_call>& calls, ncclComm* comm);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_CALLS_H_
