// Chooses what an importer left open, where the cluster decides it.
#ifndef DRYDOCK_WORKLOAD_GEN_GENERATE_ASSUMED_LAYOUT_H_
#define DRYDOCK_WORKLOAD_GEN_GENERATE_ASSUMED_LAYOUT_H_

#include <optional>
#include <string>

#include "core/model/topology.h"
#include "workload-gen/framework/framework.h"
#include "workload-gen/import/tree/import_notes.h"
#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

// A MemoryMistake (layout/nearest_layout.h). The peak does not grow with micro-batches beyond those
// in flight, so the job runs no more of them.
std::optional<std::string> MemoryMistakeOf(const Framework& framework, const Topology& topology,
                                           TrainingJob job, ParallelLayout layout);

// Sets the parallel degrees, recomputation and the batch that `notes` lists as assumed to values
// that fit the cluster (layout/fitting_layout.h), and renews the list. Does nothing if none of
// them is assumed.
Status ChooseAssumed(const Framework& framework, const Topology& topology, ImportNotes* notes,
                     TrainingJob* job);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GENERATE_ASSUMED_LAYOUT_H_
