// The common part of the frameworks FSDP and DeepSpeed: a workload of TorchModel stages, to which
// each framework adds its own hooks.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_FRAMEWORK_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_FRAMEWORK_H_

#include <functional>

#include "workload-gen/layout/layout.h"
#include "workload-gen/memory/rank_memory.h"
#include "workload-gen/sharded/torch_stage.h"

namespace drydock {

// Rejects keys of model.yaml that only Megatron has, or for which these programs have no module.
Status CheckTorchJob(const TrainingJob& job);

// `write` writes one stage's program into context.writer.builder and returns its states.
Workload BuildTorchWorkload(const TrainingJob& job, const ParallelLayout& layout,
                            const Topology& topology, int replicas, const MemoryDetail& detail,
                            const std::function<StateMemory(const TorchContext& context)>& write);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_FRAMEWORK_H_
