// The costs of launching work on the hosts of a training run: the set of configs/host-launch.yaml
// that training.host_launch names.
#ifndef DRYDOCK_WORKLOAD_GEN_HOST_HOST_LAUNCH_H_
#define DRYDOCK_WORKLOAD_GEN_HOST_HOST_LAUNCH_H_

#include <string>

#include "core/base/result.h"
#include "core/schema/cluster/host_launch_file.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

std::string HostLaunchPath();

// Returns no costs for "none". Returns an error at the key, with the nearest name, if the set does
// not exist.
Result<HostLaunchSet> HostLaunchOf(const TrainingJob& job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_HOST_HOST_LAUNCH_H_
