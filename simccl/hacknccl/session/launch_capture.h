// The calls that NCCL is working on, and what it would launch for them.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SESSION_LAUNCH_CAPTURE_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SESSION_LAUNCH_CAPTURE_H_

#include <vector>

#include "core/nccl/hacknccl_owned_plan.h"
#include "simccl/hacknccl/calls/call_buffers.h"

namespace drydock {

struct LaunchCapture {
  NcclPlan plan;                                // captured so far
  const CallBuffers* buffers = nullptr;         // of the calls that are being made
  std::vector<CallBuffers::Memory> registered;  // buffers that NCCL knows at present
};

// Returns the capture of the current session (session.h).
LaunchCapture& CurrentLaunch();

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SESSION_LAUNCH_CAPTURE_H_
