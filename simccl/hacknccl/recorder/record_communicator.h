// Lets the ranks of a recorded program's communicators find each other; each rank has its own
// process or thread. solo/bootstrap.cc calls these functions where NCCL would open sockets.
// REQUIRES: Recording(), except for Start.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_RECORDER_RECORD_COMMUNICATOR_H_
#define DRYDOCK_SIMCCL_HACKNCCL_RECORDER_RECORD_COMMUNICATOR_H_

#include <cstdint>

#include "nccl.h"

struct ncclComm;

namespace drydock::recorded {

// NCCL starts in this process, outside a session of solo/api.cc. Fails unless nccl-record records
// it.
ncclResult_t Start();

// Returns a number that no other call in any process of the run returns.
uint64_t UniqueId();

// Sets comm->bootstrap to the Peers that meet in nccl-record. `magic` comes from UniqueId.
ncclResult_t Init(uint64_t magic, ncclComm* comm);

}  // namespace drydock::recorded

#endif  // DRYDOCK_SIMCCL_HACKNCCL_RECORDER_RECORD_COMMUNICATOR_H_
