// What the prediction of a training run takes for granted: the costs of hosts and libraries, and
// settings that the model file may leave open. The report prints each in a line of its own.
#ifndef DRYDOCK_WORKLOAD_GEN_HOST_ASSUMPTIONS_H_
#define DRYDOCK_WORKLOAD_GEN_HOST_ASSUMPTIONS_H_

#include <string>
#include <vector>

#include "core/model/variation.h"
#include "core/model/workload.h"
#include "core/schema/cluster/processor_file.h"
#include "core/schema/host/host_launch_file.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

struct AssumedFrom {
  const TrainingJob& job;
  const Workload& workload;
  const Variation& variation;
  const HostLaunchSet& launch;
  const LaunchSpeeds& processors;
  std::string attention;  // the library of the attention kernels
  std::vector<Assumption> imported = {};  // keys that an imported file says nothing of
};

// A source is a file of the configs ("configs/host-launch.yaml"), the place of a key in the model
// file, "default of training.KEY", the cluster file, or "assumed: ..." for a key that an imported
// file says nothing of.
std::vector<Assumption> AssumptionsOf(const AssumedFrom& from);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_HOST_ASSUMPTIONS_H_
