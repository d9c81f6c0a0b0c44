// The launch costs that a training run's hosts have: the set of configs/host-launch.yaml that
// training.host_launch names.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_HOST_LAUNCH_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_HOST_LAUNCH_H_

#include <string>

#include "core/base/result.h"
#include "core/model/host_launch.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

std::string HostLaunchPath();

// No costs for "none". An error at the key, with the nearest name, if there is no such set.
Result<HostLaunch> HostLaunchOf(const TrainingJob& job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_HOST_LAUNCH_H_
