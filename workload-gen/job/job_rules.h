// Rules between the sections of model.yaml.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_JOB_RULES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_JOB_RULES_H_

#include "core/base/yaml.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

// Reports each rule that the job breaks, at its key. REQUIRES: each section is valid by itself.
void CheckSectionsTogether(const TrainingJob& job, Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_JOB_RULES_H_
