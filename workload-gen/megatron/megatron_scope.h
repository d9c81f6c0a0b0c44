// What model.yaml may ask for and the framework megatron does not generate.
#ifndef DRYDOCK_WORKLOAD_GEN_MEGATRON_MEGATRON_SCOPE_H_
#define DRYDOCK_WORKLOAD_GEN_MEGATRON_MEGATRON_SCOPE_H_

#include "workload-gen/job/training_job.h"

namespace drydock {

// Returns an error at each such key.
Status CheckMegatronScope(const TrainingJob& job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEGATRON_MEGATRON_SCOPE_H_
