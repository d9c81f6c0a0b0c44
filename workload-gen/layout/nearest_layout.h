// Suggests the nearest layout that works for a layout that does not.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYOUT_NEAREST_LAYOUT_H_
#define DRYDOCK_WORKLOAD_GEN_LAYOUT_NEAREST_LAYOUT_H_

#include <string>

#include "core/model/topology.h"
#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

// Returns the settings that make the job fit the cluster, as "--set parallel.tensor=4 ..."; "" if
// no near layout works. Prefers few changes, then small ones, then the order of the degrees.
// Changes parallel degrees and the global batch, but neither the model nor the micro-batch.
std::string NearestLayout(const TrainingJob& job, const Topology& topology);

// ResolveLayout; its last error message ends with the suggestion of NearestLayout.
Result<ParallelLayout> ResolveLayoutOrSuggest(const TrainingJob& job, const Topology& topology);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYOUT_NEAREST_LAYOUT_H_
