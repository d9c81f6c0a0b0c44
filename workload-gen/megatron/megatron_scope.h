// What model.yaml may say and the megatron framework does not generate.
#ifndef DRYDOCK_WORKLOAD_GEN_MEGATRON_MEGATRON_SCOPE_H_
#define DRYDOCK_WORKLOAD_GEN_MEGATRON_MEGATRON_SCOPE_H_

#include "workload-gen/job/training_job.h"

namespace drydock {

// An error at each key that asks for it.
Status CheckMegatronScope(const TrainingJob& job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEGATRON_MEGATRON_SCOPE_H_
