// Communicators of a recorded program: how their ranks, each in a process or thread of its own,
// find each other. Called by fake_bootstrap.cc where NCCL would open sockets. All need Recording(),
// but for Start.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_RECORD_COMMUNICATOR_H_
#define DRYDOCK_SIMCCL_HACKNCCL_RECORD_COMMUNICATOR_H_

#include <cstdint>

#include "nccl.h"

struct ncclComm;

namespace drydock::recorded {

// NCCL starts in this process, outside any session of api.cc: an error if nothing is recording.
ncclResult_t Start();

// Different in every call of every process of the run.
uint64_t UniqueId();

// comm->bootstrap becomes what the communicator's exchanges need. `magic` is what UniqueId gave.
ncclResult_t Init(uint64_t magic, ncclComm* comm);
// The same for a part of `parent`: `members` are its ranks in the parent, in order.
ncclResult_t Split(uint64_t hash, ncclComm* comm, ncclComm* parent, const int* members);
ncclResult_t Close(void* bootstrap);

// `data` is one record of `bytes` bytes a rank; one's own is there, the others' are filled in.
ncclResult_t AllGather(void* bootstrap, void* data, int bytes);

}  // namespace drydock::recorded

#endif  // DRYDOCK_SIMCCL_HACKNCCL_RECORD_COMMUNICATOR_H_
