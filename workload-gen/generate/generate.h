// From files to a workload: what a training run is, what its importer left open, and what every
// rank does in one iteration. Writes nothing. Not thread-safe.
#ifndef DRYDOCK_WORKLOAD_GEN_GENERATE_GENERATE_H_
#define DRYDOCK_WORKLOAD_GEN_GENERATE_GENERATE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/memory_curve.h"
#include "core/model/workload.h"
#include "core/schema/cluster/cluster_file.h"
#include "workload-gen/framework/framework.h"
#include "workload-gen/import/job_source.h"
#include "workload-gen/import/tree/import_notes.h"
#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

// Values of --set, by the file that has their section.
struct Overrides {
  std::vector<std::string> model, cluster;
};
// Errors: a section that neither file has.
Result<Overrides> SplitOverrides(const std::vector<std::string>& all);

// A training run on a cluster.
struct Generated {
  TrainingJob job;
  ClusterInput cluster;
  ImportNotes notes;
  std::unique_ptr<Framework> framework;
  Workload workload;
  MemoryCurve memory;  // over the iteration, of the fullest rank
  const char* attention = "";
};

// Fills in what the model leaves open: the loads of experts, and what an importer assumed.
// REQUIRES: job, cluster and notes are those of LoadJob and LoadCluster.
Status Complete(Generated* run);

// Whether the error of a layout that does not exist names the nearest one that works, which takes
// as long as building several workloads.
enum class LayoutHint : uint8_t { kNearest, kNone };

// The library of the job's attention kernels (core/model/attention_backend.h). REQUIRES: Complete
// has succeeded.
const char* AttentionOf(const Generated& run);

// The layout. Errors: a layout or a number format that the cluster or the framework cannot have.
// REQUIRES: Complete has succeeded.
Result<ParallelLayout> LayoutOf(const Generated& run, LayoutHint hint);

// Makes the workload, with errors as those of LayoutOf. REQUIRES: Complete has succeeded.
Status Build(Generated* run, LayoutHint hint = LayoutHint::kNearest);

// Makes the workload of this layout, without what the host does, for its ops and its peak memory
// alone.
// `saved_by_layer`: MemoryDetail.
Workload BuildOps(const Generated& run, const ParallelLayout& layout,
                  std::vector<Bytes>* saved_by_layer = nullptr);

// All of it.
Result<Generated> Generate(const JobSource& model, const std::string& cluster,
                           const std::vector<std::string>& overrides);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GENERATE_GENERATE_H_
