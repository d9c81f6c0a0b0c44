// A training run as a model.yaml that states all its keys. Shows how workload-gen reads a
// config.json, a Megatron-LM command line, or a file and its overrides.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_TEXT_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_TEXT_H_

#include <string>

#include "workload-gen/job/training_job.h"

namespace drydock {

// The text parses to the same job. It begins with a comment: the number of parameters.
std::string JobText(const TrainingJob& job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_TEXT_H_
