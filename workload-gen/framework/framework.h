// The seam between a training framework and the rest: what a framework's rules make of a job.
// One row of FrameworkChoices() per framework; model.yaml names it (training.framework).
#ifndef DRYDOCK_WORKLOAD_GEN_FRAMEWORK_FRAMEWORK_H_
#define DRYDOCK_WORKLOAD_GEN_FRAMEWORK_FRAMEWORK_H_

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"
#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

class Framework {
 public:
  virtual ~Framework() = default;

  // What of the job this framework does not generate, each at its place in model.yaml.
  virtual Status Check(const TrainingJob& job) const = 0;

  // The same, where it takes the cluster to say.
  virtual Status CheckLayout(const TrainingJob&, const ParallelLayout&) const { return OkStatus(); }

  // What every rank runs in one iteration, in a steady state (not the first).
  // - Pure: equal arguments give equal workloads, byte for byte.
  // - The checks found nothing; `layout` was made by ResolveLayout for this job and topology.
  // - The result is complete: topology, groups, tables, a program per rank class, uses, totals.
  virtual Workload Build(const TrainingJob& job, const ParallelLayout& layout,
                         const Topology& topology) const = 0;
};

struct FrameworkChoice {
  const char* name;
  const char* summary;
  std::unique_ptr<Framework> (*make)();
};

const std::vector<FrameworkChoice>& FrameworkChoices();
// `name` is one of FrameworkNames() (job/framework_names.h).
std::unique_ptr<Framework> MakeFramework(const std::string& name);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_FRAMEWORK_FRAMEWORK_H_
