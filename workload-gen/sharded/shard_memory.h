// The memory of sharded parameters, gradients and optimizer states.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_MEMORY_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_MEMORY_H_

#include "workload-gen/memory/rank_memory.h"
#include "workload-gen/sharded/fsdp_hooks.h"

namespace drydock {

// Returns the fp32 shares of parameters and of two moments. FsdpHooks hold the rest.
StateMemory FsdpStates(const TorchContext& context, const FsdpPlan& plan);
// Returns parameters in the training precision, the rank's share in fp32 of parameters and two
// moments, and what stage 3 keeps. ZeroHooks and Zero3Hooks hold the rest.
StateMemory ZeroStates(const TorchContext& context);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_MEMORY_H_
