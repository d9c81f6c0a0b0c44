// What launching work costs the host of a captured program.
#ifndef DRYDOCK_CAPTURE_TAPE_LAUNCH_COSTS_H_
#define DRYDOCK_CAPTURE_TAPE_LAUNCH_COSTS_H_

#include "capture/tape/rank_tape.h"
#include "core/base/result.h"
#include "core/model/host_launch.h"

namespace drydock::capture {

// Returns the costs of configs/capture-launch.yaml, and what the program itself takes before a call
// of NCCL. What it takes before other work is in the submodules of its tape.
Result<HostLaunch> LaunchCosts(const TapeHost& host);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_TAPE_LAUNCH_COSTS_H_
