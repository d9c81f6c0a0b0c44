// The modules with parameters that a rank runs for one micro-batch, forward and backward, in order:
// what DeepSpeed's stage 3 records in its first iteration.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_TRACE_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_TRACE_H_

#include <map>
#include <tuple>
#include <vector>

#include "workload-gen/sharded/torch_stage.h"

namespace drydock {

struct ZeroTrace {
  explicit ZeroTrace(const TorchContext& context);

  using Place = std::tuple<int, ModulePass, size_t>;  // group, pass, module
  std::vector<int64_t> parameters;                    // elements of each
  std::vector<std::vector<int>> steps;                // of each module, its parameters
  std::map<Place, size_t> step_of;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_TRACE_H_
