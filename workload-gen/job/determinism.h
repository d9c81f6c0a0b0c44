// What is not modeled of a deterministic run.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_DETERMINISM_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_DETERMINISM_H_

#include "workload-gen/job/training_job.h"

namespace drydock {

inline constexpr const char* kDeterministicAttention =
    "the deterministic backward of fused attention is slower than the usual one, by how much no "
    "public measurement says; it counts as the usual one";

// Returns whether that holds for the job: not if the kernels of attention are PyTorch's operators.
inline bool HasDeterministicAttention(const TrainingJob& job) {
  return job.training.host.deterministic && job.training.fused_attention() &&
         job.model.HasMixer(Mixer::kAttention) && !job.model.attention.is_sparse();
}

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_DETERMINISM_H_
