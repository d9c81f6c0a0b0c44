// Charges the host for the code of a framework: the costs of a set of configs/host-launch.yaml go
// to the submodules of a workload (docs/explanation/host-launch.md).
#ifndef DRYDOCK_WORKLOAD_GEN_HOST_HOST_COSTS_H_
#define DRYDOCK_WORKLOAD_GEN_HOST_HOST_COSTS_H_

#include "core/model/workload.h"
#include "core/schema/host/host_launch_file.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

// The delay of a step by the slowest of several machines, beyond that of one machine.
Time StepDelay(const HostLaunchSet& set, const Topology& topology);

// Fills Workload::launch, and Submodule::host of every submodule. Backward code belongs to the
// gradient of the input; the gradient of the weight has none, because autograd calls both at once.
void ChargeHost(const HostLaunchSet& set, const TrainingJob& job, Workload* workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_HOST_HOST_COSTS_H_
