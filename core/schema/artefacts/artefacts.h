// Reads and writes the artefacts of a run directory. Each records what it was made from (names and
// SHA-256); a reader that is handed one made from something else says which tool to run again.
// Writes are atomic. Errors name the file. The formats: docs/reference/run-directory.md.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_ARTEFACTS_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_ARTEFACTS_H_

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/model/flow_plan.h"
#include "core/model/kernel_times.h"
#include "core/model/timeline.h"
#include "core/model/what_if.h"
#include "core/model/workload.h"
#include "core/schema/cluster/cluster_file.h"

namespace drydock {

// What an artefact was made from, by whom and how.
struct Provenance {
  struct Input {
    std::string name;
    std::string sha256;
  };
  std::string tool;
  std::vector<Input> inputs;
  std::vector<std::string> options;  // those that change the result
};

// The run directory's names. A `sha256` of the workload is that of its manifest, which holds those
// of its graphs.
inline constexpr const char* kWorkloadName = "1-workload";
inline constexpr const char* kManifestName = "1-workload/manifest.pb";
inline constexpr const char* kFlowPlanName = "2-flows.pb";
inline constexpr const char* kKernelTimesName = "3-times.pb";
inline constexpr const char* kTimelineName = "4-timeline.pb";
inline constexpr const char* kWhatIfName = "4-what-if.pb";

enum class WorkloadParts { kTables, kAll };  // kTables leaves Workload::programs empty

// `cluster` is what the topology was read from; it is stored as text. `attention_backend`: one of
// core/model/attention_backend.h; "": not known.
Status WriteWorkload(const std::string& run, const Workload& workload, const ClusterInput& cluster,
                     const Provenance& provenance, const std::string& attention_backend = "");
struct WorkloadFile {
  Workload workload;
  Variation variation;  // of the cluster
  std::string attention_backend;
  std::string sha256;
};
Result<WorkloadFile> ReadWorkload(const std::string& run, WorkloadParts parts);

Status WriteFlowPlan(const std::string& run, const FlowPlan& plan, const Provenance& provenance);
Status WriteKernelTimes(const std::string& run, const KernelTimes& times,
                        const Provenance& provenance);
Status WriteWhatIf(const std::string& run, const WhatIf& what_if, const Provenance& provenance);
Status WriteTimeline(const std::string& run, const Timeline& timeline,
                     const Provenance& provenance);

// Each checks that the artefact was made from `workload`; the timeline also from the present plan
// and times. *sha256, if given, receives the artefact's own hash.
Result<FlowPlan> ReadFlowPlan(const std::string& run, const WorkloadFile& workload,
                              std::string* sha256 = nullptr);
Result<KernelTimes> ReadKernelTimes(const std::string& run, const WorkloadFile& workload,
                                    std::string* sha256 = nullptr);
Result<Timeline> ReadTimeline(const std::string& run, const WorkloadFile& workload,
                              std::string* sha256 = nullptr);
// Like the timeline, from the present workload, plan and times. Few runs have one (FileExists).
Result<WhatIf> ReadWhatIf(const std::string& run, const WorkloadFile& workload);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_ARTEFACTS_H_
