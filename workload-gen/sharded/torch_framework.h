// What FSDP and DeepSpeed share as Frameworks: a workload of TorchModel stages around which each
// puts its own hooks.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_FRAMEWORK_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_FRAMEWORK_H_

#include <functional>

#include "workload-gen/layout/layout.h"
#include "workload-gen/memory/rank_memory.h"
#include "workload-gen/sharded/torch_stage.h"

namespace drydock {

// Keys of model.yaml that belong to Megatron alone, or to what these programs have no module for.
Status CheckTorchJob(const TrainingJob& job);

// `write` writes one stage's program into context.writer.builder and gives what its ranks hold.
Workload BuildTorchWorkload(const TrainingJob& job, const ParallelLayout& layout,
                            const Topology& topology, int replicas,
                            const std::function<StateMemory(const TorchContext& context)>& write);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_FRAMEWORK_H_
