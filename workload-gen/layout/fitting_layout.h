// Chooses parallel degrees, and the batch, for a job that leaves them open.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYOUT_FITTING_LAYOUT_H_
#define DRYDOCK_WORKLOAD_GEN_LAYOUT_FITTING_LAYOUT_H_

#include <cstdint>

#include "core/base/result.h"
#include "core/model/topology.h"
#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/nearest_layout.h"

namespace drydock {

// What may be chosen. The job's own value of the rest stays.
struct OpenChoices {
  bool tensor = false;  // and sequence_parallel, which is on where tensor is above 1
  bool pipeline = false;
  bool expert = false;
  bool recompute = false;  // full, if no layout fits the memory without it
  // `step_tokens` in whole micro-batches of all data-parallel ranks, at least one for each stage.
  bool batch = false;
  int64_t step_tokens = 0;

  bool any() const { return tensor || pipeline || expert || recompute || batch; }
};

// Sets the open values of `job`: of the layouts that the rest allows and that fit the memory of the
// cluster, the one with the fewest hosts' worth of model-parallel ranks (tensor x pipeline x hosts
// of an expert-parallel group); of several, the one that tensor-parallel groups inside a host make
// (with experts: that pipelines make), then the one with the fewest expert-parallel ranks. Stages
// whose number does not divide the layers differ by one layer (parallel.layout). Leaves `job` as it
// is if no layout is possible, whatever its memory: ResolveLayout says why.
// Returns an error if the layouts that are possible do not fit the memory.
Status FitLayout(const OpenChoices& open, const Topology& topology, const MemoryMistake& memory,
                 TrainingJob* job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYOUT_FITTING_LAYOUT_H_
