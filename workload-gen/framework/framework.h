// The seam between training frameworks and the rest of the tools. A framework turns a job into a
// workload. model.yaml names the framework (training.framework); workload-gen/framework_table.cc
// makes it.
#ifndef DRYDOCK_WORKLOAD_GEN_FRAMEWORK_FRAMEWORK_H_
#define DRYDOCK_WORKLOAD_GEN_FRAMEWORK_FRAMEWORK_H_

#include <memory>

#include "core/base/result.h"
#include "core/model/workload.h"
#include "workload-gen/framework/memory_detail.h"
#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

class Framework {
 public:
  virtual ~Framework() = default;

  // Reports each key of the job that this framework does not generate, at its place in model.yaml.
  virtual Status Check(const TrainingJob& job) const = 0;

  // The same for keys whose check needs the cluster.
  virtual Status CheckLayout(const TrainingJob&, const ParallelLayout&) const { return OkStatus(); }

  // Returns what every rank runs in one iteration in steady state (not the first).
  // - Pure: equal arguments give equal workloads, byte for byte.
  // - REQUIRES: the checks passed; ResolveLayout made `layout` for this job and topology.
  // - The result is complete: topology, groups, tables, a program per rank class, uses, totals.
  // - Without detail.reserved, Workload::pytorch is empty.
  virtual Workload Build(const TrainingJob& job, const ParallelLayout& layout,
                         const Topology& topology, const MemoryDetail& detail) const = 0;

  // Returns what a rank of this stage holds at least through the whole step: weights, gradients,
  // states of the optimizer. Zero if that is not known before the workload is built.
  virtual Bytes LeastStates(const TrainingJob&, const ParallelLayout&, const Topology&,
                            int /*stage*/) const {
    return Bytes();
  }

  // Returns the library whose attention kernels the framework calls
  // (core/model/attention_backend.h).
  virtual const char* AttentionBackend() const = 0;
};

std::unique_ptr<Framework> MakeFramework(FrameworkKind kind);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_FRAMEWORK_FRAMEWORK_H_
