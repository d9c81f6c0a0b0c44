// The sequence of modules with parameters that a rank runs in the forward and backward of one
// micro-batch. DeepSpeed's stage 3 records it in the first iteration.
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
  std::vector<int64_t> parameters;                    // elements of each parameter
  std::vector<std::vector<int>> steps;                // the parameters of each module
  std::map<Place, size_t> step_of;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_TRACE_H_
