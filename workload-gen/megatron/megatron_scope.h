// Rejects features that model.yaml can state and the framework megatron does not generate.
#ifndef DRYDOCK_WORKLOAD_GEN_MEGATRON_MEGATRON_SCOPE_H_
#define DRYDOCK_WORKLOAD_GEN_MEGATRON_MEGATRON_SCOPE_H_

#include "workload-gen/job/training_job.h"

namespace drydock {

// Returns an error at the key of each such feature.
Status CheckMegatronScope(const TrainingJob& job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEGATRON_MEGATRON_SCOPE_H_
