// The memory of sharded parameters, gradients and optimizer states.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_MEMORY_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_MEMORY_H_

#include "workload-gen/memory/rank_memory.h"
#include "workload-gen/sharded/fsdp_hooks.h"

namespace drydock {

// Returns fp32 shares of parameters and gradients, two moments, gathered groups, and gradients that
// are not yet reduced.
StateMemory FsdpStates(const TorchContext& context, const FsdpPlan& plan);
// Returns parameters and gradients in the training precision, and the rank's share in fp32 of
// parameters, gradients and two moments.
StateMemory ZeroStates(const TorchContext& context);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_MEMORY_H_
