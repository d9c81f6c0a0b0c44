// What it takes a rank's host to give work to its GPU (docs/explanation/host-launch.md): a
// framework's way of working, on the CPU that its costs were measured on. Plain data.
#ifndef DRYDOCK_CORE_MODEL_HOST_LAUNCH_H_
#define DRYDOCK_CORE_MODEL_HOST_LAUNCH_H_

#include <cstdint>
#include <string>

#include "core/base/units.h"

namespace drydock {

struct HostLaunch {
  std::string name;   // "eager"; empty: hosts cost no time
  Time kernel;        // the host is busy this long for each kernel of a compute op,
  Time collective;    // for a collective,
  Time message;       // for a send or a receive,
  Time graph;         // for a CUDA graph, whatever it holds,
  Time wait;          // and to go on after what it waited for has ended
  Time latency;       // from the launch to the kernel's start on a GPU that has nothing to do
  int64_t queue = 0;  // launches that a stream holds before the host has to wait
  Time loop = {};     // as `kernel` and `collective`, of what a loop without Python launches
  Time backward_kernel = {};  // as `kernel`, of what autograd launches on the way back

  bool modelled() const { return queue > 0; }
};

// Bounds of what files may say: anything more is a mistake, and sums still fit in a Time.
inline constexpr Time kLongestLaunch = Time::Us(1'000'000);
inline constexpr int64_t kMostQueued = 1'000'000'000;

// What CUDA graphs hold of a layout's work.
enum class GraphScope : uint8_t { kNone, kLayers, kFull };

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_HOST_LAUNCH_H_
