// How equal GPUs and ranks of a cluster differ in time: some GPUs are slow, and times vary from op
// to op. Read from cluster.topo (docs/reference/cluster-file.md, `faults` and `jitter`).
#ifndef DRYDOCK_CORE_MODEL_VARIATION_H_
#define DRYDOCK_CORE_MODEL_VARIATION_H_

#include <cstdint>
#include <vector>

#include "core/base/units.h"

namespace drydock {

// From `at` on, compute on the GPU takes `slowdown` times as long; 1 ends a slowdown.
struct SlowGpu {
  Time at;
  int host = 0;
  int gpu = -1;  // -1: all GPUs of the host
  double slowdown = 1;
  bool operator==(const SlowGpu&) const = default;
};

// Random variation from op to op.
struct Jitter {
  double compute = 0;  // standard deviation of a compute op's time, as a share of it
  Time call;           // mean delay of a rank at a communication call
  int64_t seed = 0;
  bool operator==(const Jitter&) const = default;
};

struct Variation {
  std::vector<SlowGpu> slow_gpus;  // by time
  Jitter jitter;

  // Returns true if ranks that run the same program take the same times.
  bool none() const { return slow_gpus.empty() && jitter.compute <= 0 && jitter.call <= Time(); }
  bool operator==(const Variation&) const = default;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_VARIATION_H_
