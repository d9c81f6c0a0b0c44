// What a host of the cluster answers to nvidia-smi and scontrol.
#ifndef DRYDOCK_CAPTURE_INTERCEPT_HOST_ANSWERS_H_
#define DRYDOCK_CAPTURE_INTERCEPT_HOST_ANSWERS_H_

#include <string>
#include <vector>

#include "capture/launch/launch.h"
#include "core/base/result.h"

namespace drydock::capture {

// Errors: a question that has no answer here.
Result<std::string> NvidiaSmi(const std::vector<std::string>& words, const ClusterSize& cluster);
// `environment`: has SLURM_JOB_NODELIST, if the script runs as a job.
Result<std::string> Scontrol(const std::vector<std::string>& words, const Variables& environment);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_INTERCEPT_HOST_ANSWERS_H_
