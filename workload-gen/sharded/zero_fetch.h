// Plans the all-gathers of ZeRO stage 3, like DeepSpeed's coordinator, which reads the trace of an
// earlier iteration (partitioned_param_coordinator.py). PlanZeroFetches is a pure function.
//
// Before a module runs, one all-gather collects its missing parameters, and the module waits for
// it. Another all-gather then prefetches the next parameters of the trace, until it has at least
// prefetch_bucket_size elements. After the module, its parameters are released unless the trace
// uses them again within max_reuse_distance elements.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_FETCH_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_FETCH_H_

#include <cstdint>
#include <vector>

#include "workload-gen/job/sharding_rules.h"

namespace drydock {

struct ZeroFetch {
  std::vector<int> parameters;
  int64_t elements = 0;  // each parameter padded to a multiple of the ranks
};

// The all-gathers and waits before one module of the trace.
struct ZeroFetchStep {
  int own = -1;            // index of the gather of missing parameters, or -1
  std::vector<int> waits;  // gathers that it waits for first, in order
  int prefetch = -1;       // index of the gather for later modules, or -1
  std::vector<int> releases;  // parameters that are freed after the module
};

struct ZeroFetchPlan {
  std::vector<ZeroFetch> gathers;  // in order
  std::vector<ZeroFetchStep> steps;
};

// `parameters` lists the elements of each parameter. `trace` lists the parameters of each module,
// in the order of the modules in one micro-batch's forward and backward.
ZeroFetchPlan PlanZeroFetches(const std::vector<int64_t>& parameters,
                              const std::vector<std::vector<int>>& trace, const ZeroRules& rules,
                              int ranks);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_FETCH_H_
