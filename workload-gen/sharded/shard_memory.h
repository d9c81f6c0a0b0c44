// What ranks hold of parameters, gradients and optimizer states where those are shared out.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_MEMORY_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_MEMORY_H_

#include "workload-gen/memory/rank_memory.h"
#include "workload-gen/sharded/fsdp_hooks.h"

namespace drydock {

// fp32 shares of parameters and gradients, two moments; gathered groups; gradients that are not
// shared out so far.
StateMemory FsdpStates(const TorchContext& context, const FsdpPlan& plan);
// Of the training precision and, in the rank's share, in fp32: parameters, gradients of the step
// and two moments.
StateMemory ZeroStates(const TorchContext& context);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_MEMORY_H_
