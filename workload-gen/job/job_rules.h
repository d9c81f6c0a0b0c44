// Rules between the sections of model.yaml.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_JOB_RULES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_JOB_RULES_H_

#include "core/base/yaml.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

// Reports each rule that the job breaks, at its key. REQUIRES: each section is valid by itself.
void CheckSectionsTogether(const TrainingJob& job, Diagnostics* diagnostics);

// The remark for a deterministic run with fused attention.
inline constexpr const char* kDeterministicAttention =
    "the deterministic backward of fused attention is slower than the usual one, by how much no "
    "public measurement says; it counts as the usual one";
// True if the remark concerns the job: it is deterministic, and its attention is fused.
bool HasDeterministicAttention(const TrainingJob& job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_JOB_RULES_H_
