// Which parameters ZeRO stage 3 gathers when, as DeepSpeed's coordinator decides from the trace of
// an earlier iteration (partitioned_param_coordinator.py). Pure function.
//
// Before a module runs, what of its parameters is missing is gathered in one piece and waited for;
// then the parameters the trace needs next are, in one piece, until that piece has
// prefetch_bucket_size elements. Afterwards its parameters are released, unless they are needed
// again within max_reuse_distance elements.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_FETCH_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_FETCH_H_

#include <cstdint>
#include <vector>

#include "workload-gen/job/sharding_rules.h"

namespace drydock {

struct ZeroFetch {
  std::vector<int> parameters;
  int64_t elements = 0;  // as gathered: each parameter padded to the ranks
};

// One module of the trace: before it runs.
struct ZeroFetchStep {
  int own = -1;            // index of the gather of what is missing; -1: nothing is
  std::vector<int> waits;  // gathers that it needs, not waited for before, in order
  int prefetch = -1;       // index of the gather started for later modules; -1: none
};

struct ZeroFetchPlan {
  std::vector<ZeroFetch> gathers;  // in order
  std::vector<ZeroFetchStep> steps;
  int64_t most_live = 0;  // elements gathered at once, those that stay not counted
};

// `parameters`: elements of each. `trace`: the parameters of each module, in the order modules run
// in one micro-batch's forward and backward.
ZeroFetchPlan PlanZeroFetches(const std::vector<int64_t>& parameters,
                              const std::vector<std::vector<int>>& trace, const ZeroRules& rules,
                              int ranks);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_FETCH_H_
