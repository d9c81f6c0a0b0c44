// Rules between the parallel degrees, the sizes of the model and the GPUs of a host.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_LAYOUT_RULES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_LAYOUT_RULES_H_

#include "core/base/result.h"
#include "core/model/topology.h"
#include "workload-gen/job/training_job.h"

namespace drydock {

// Adds an error for each degree that splits a size unevenly, at the line of model.yaml.
void CheckDegrees(const TrainingJob& job, const Topology& topology, Diagnostics* diagnostics);

// parallel.expert_tensor; the default is parallel.tensor.
inline int ExpertTensorOf(const ParallelRules& parallel) {
  return parallel.expert_tensor > 0 ? parallel.expert_tensor : parallel.tensor;
}

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_LAYOUT_RULES_H_
