// Reads configs/host-launch.yaml: the costs of launching work on a host, one set per launch mode of
// a framework, each with its source (docs/explanation/host-launch.md).
#ifndef DRYDOCK_CORE_SCHEMA_HOST_HOST_LAUNCH_FILE_H_
#define DRYDOCK_CORE_SCHEMA_HOST_HOST_LAUNCH_FILE_H_

#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/host_launch.h"

namespace drydock {

// Host time of a module's own code, launches excluded: Python, checks of arguments, autograd, views
// and allocations.
struct ModuleCost {
  Time forward;   // of a call in the forward pass or in recomputation
  Time backward;  // of a call in the backward pass
  Time once;      // of work that is in neither pass: at the end of a step
  Time tensor;    // as `once`, for each tensor that a loop of the framework visits
  // Of products of experts that a loop launches, for each of them in addition.
  Time expert_forward, expert_backward;
};

struct HostLaunchSet {
  HostLaunch launch;
  std::string measured;  // software and machines of the measurement
  std::string kernels;   // the only value of training.kernels for which the costs hold; empty: any
  Time fill;  // of a deterministic run, which fills each tensor that a kernel is going to write
  Time step;  // for each step: data, timers, learning rate, logging
  // Mean delay of a step on one machine beyond its shortest, of an exponential distribution. A run
  // waits for its slowest machine.
  Time step_delay;
  std::map<std::string, ModuleCost> modules;  // by HostModuleNames; absent: none
};

// The modules of HostLaunchSet::modules: the kinds of submodules, and variants of some kinds:
//   fp8-linear           a linear whose product runs in fp8, MXFP8 or NVFP4
//   unfused-attention    attention that PyTorch's operators compose
//   slice-of-attention   a step of ring attention (context parallelism)
const std::vector<std::string>& HostModuleNames();

// Returns the sets in the order of the file, with distinct names. Reports all mistakes at once.
Result<std::vector<HostLaunchSet>> ParseHostLaunchFile(const std::string& text,
                                                       const std::string& file_name);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_HOST_HOST_LAUNCH_FILE_H_
