// What launching work costs the host of a rank (docs/explanation/host-launch.md): one set for each
// launch mode of a framework, on the CPU of the measurement. Plain data.
#ifndef DRYDOCK_CORE_MODEL_HOST_LAUNCH_H_
#define DRYDOCK_CORE_MODEL_HOST_LAUNCH_H_

#include <cstdint>
#include <string>

#include "core/base/units.h"

namespace drydock {

struct HostLaunch {
  std::string name;           // "eager"; empty: launching takes no time
  Time kernel;                // host time for each kernel of a compute op
  Time collective;            // host time for a collective
  Time message;               // host time for a send or a receive
  Time graph;                 // host time for a CUDA graph of any size
  Time wait;                  // host time to continue after a wait has ended
  Time latency;               // from the launch to the kernel's start on an idle GPU
  int64_t queue = 0;          // launches that a stream holds before the host has to wait
  Time loop = {};             // as `kernel` and `collective`, for launches of a loop without Python
  Time backward_kernel = {};  // as `kernel`, for launches of autograd in the backward pass
  Time expert = {};           // of a loop over the experts of a rank: one more expert's launch

  bool modeled() const { return queue > 0; }
};

// Bounds of the values in files: larger ones are mistakes, and sums still fit in a Time.
inline constexpr Time kMaxLaunchTime = Time::Us(1'000'000);
inline constexpr int64_t kMaxQueued = 1'000'000'000;

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_HOST_LAUNCH_H_
