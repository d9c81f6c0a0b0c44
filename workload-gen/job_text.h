// A training run as the model.yaml that states it in full: what was understood of a config.json, a
// Megatron-LM command line, or a file and its overrides.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_TEXT_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_TEXT_H_

#include <string>

#include "workload-gen/job/training_job.h"

namespace drydock {

// Parses to the same job. Begins with the number of parameters, as a comment.
std::string JobText(const TrainingJob& job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_TEXT_H_
