// In what a cluster's GPUs and ranks differ though they are alike: some are slow, and nothing takes
// the same time twice. Read from cluster.topo (docs/reference/cluster-file.md, `faults` and
// `jitter`).
#ifndef DRYDOCK_CORE_MODEL_VARIATION_H_
#define DRYDOCK_CORE_MODEL_VARIATION_H_

#include <cstdint>
#include <vector>

#include "core/base/units.h"

namespace drydock {

// From `at` on, compute on the GPU takes `slowdown` times as long: 1 ends a slowness.
struct SlowGpu {
  Time at;
  int host = 0;
  int gpu = -1;  // -1: all of the host
  double slowdown = 1;
};

// What differs from op to op without a reason that anything here knows.
struct Jitter {
  double compute = 0;  // standard deviation of a compute op's time, as a share of it
  Time call;           // how late a rank comes to a communication call, on average
  int64_t seed = 0;
};

struct Variation {
  std::vector<SlowGpu> slow_gpus;  // by time
  Jitter jitter;

  // Ranks that run the same program take the same times.
  bool none() const { return slow_gpus.empty() && jitter.compute <= 0 && jitter.call <= Time(); }
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_VARIATION_H_
