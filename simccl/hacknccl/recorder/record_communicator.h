// Communicators of a recorded program: how their ranks, each in a process or thread of its own,
// find each other. Called by fake_bootstrap.cc where NCCL would open sockets. All need Recording(),
// but for Start.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_RECORDER_RECORD_COMMUNICATOR_H_
#define DRYDOCK_SIMCCL_HACKNCCL_RECORDER_RECORD_COMMUNICATOR_H_

#include <cstdint>

#include "nccl.h"

struct ncclComm;

namespace drydock::recorded {

// NCCL starts in this process, outside any session of api.cc: an error if nothing is recording.
ncclResult_t Start();

// Different in every call of every process of the run.
uint64_t UniqueId();

// comm->bootstrap becomes the Peers that meet in nccl-record. `magic` is what UniqueId gave.
ncclResult_t Init(uint64_t magic, ncclComm* comm);

}  // namespace drydock::recorded

#endif  // DRYDOCK_SIMCCL_HACKNCCL_RECORDER_RECORD_COMMUNICATOR_H_
