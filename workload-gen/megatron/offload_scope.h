// Checks training.offload_modules: what Megatron-Core refuses, and what Drydock does not generate.
#ifndef DRYDOCK_WORKLOAD_GEN_MEGATRON_OFFLOAD_SCOPE_H_
#define DRYDOCK_WORKLOAD_GEN_MEGATRON_OFFLOAD_SCOPE_H_

#include "core/base/result.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

void CheckModuleOffload(const TrainingJob& job, Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEGATRON_OFFLOAD_SCOPE_H_
