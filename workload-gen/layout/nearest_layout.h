// Suggests the nearest layout that works for a layout that does not.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYOUT_NEAREST_LAYOUT_H_
#define DRYDOCK_WORKLOAD_GEN_LAYOUT_NEAREST_LAYOUT_H_

#include <functional>
#include <optional>
#include <string>

#include "core/model/topology.h"
#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

// Returns the memory that the fullest rank of a layout needs, as "285.0 GB of 86.0 GB", if its GPU
// has less; "" if it fits. Nothing if the framework does not generate the layout.
using MemoryMistake =
    std::function<std::optional<std::string>(const TrainingJob&, const ParallelLayout&)>;

struct Suggestion {
  std::string settings;  // "--set parallel.tensor=4 ..."; "": no near layout works
  std::string mistake;   // what MemoryMistake says of it; "": it fits
  int tried = 0;         // layouts whose memory was asked for
};

// Returns settings that make the job fit the cluster. Prefers few changes, then small ones, then
// the order of the degrees. Changes parallel degrees and the global batch, but neither the model
// nor the micro-batch. Of the nearest that work, returns the first that fits the memory; if none of
// kMaxWeighed does (fewer on large clusters), the nearest with its mistake.
inline constexpr int kMaxWeighed = 256;
Suggestion NearestLayout(const TrainingJob& job, const Topology& topology,
                         const MemoryMistake& memory);

// ResolveLayout; its last error message ends with the suggestion of NearestLayout.
Result<ParallelLayout> ResolveLayoutOrSuggest(const TrainingJob& job, const Topology& topology,
                                              const MemoryMistake& memory);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYOUT_NEAREST_LAYOUT_H_
