// For a layout that does not come out: the nearest one that does.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYOUT_NEAREST_LAYOUT_H_
#define DRYDOCK_WORKLOAD_GEN_LAYOUT_NEAREST_LAYOUT_H_

#include <string>

#include "core/model/topology.h"
#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

// What to set for the job to fit the cluster, as "--set parallel.tensor=4 ..."; "" if nothing near
// does. Fewest changes first, then the smallest ones; equal ones in the order of the degrees.
// Parallel degrees and the batch are changed, the model and the micro-batch are not.
std::string NearestLayout(const TrainingJob& job, const Topology& topology);

// ResolveLayout, whose last error goes on to say what NearestLayout found.
Result<ParallelLayout> ResolveLayoutOrSuggest(const TrainingJob& job, const Topology& topology);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYOUT_NEAREST_LAYOUT_H_
