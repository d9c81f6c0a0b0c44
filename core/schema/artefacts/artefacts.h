// Reads and writes the artefacts of a run directory. Each artefact records its inputs (names and
// SHA-256). If an input has changed since, the reader's error names the tool to run again.
// Writes are atomic. Errors name the file. docs/reference/run-directory.md has the formats.
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

// The tool, the inputs and the options that made an artefact.
struct Provenance {
  struct Input {
    std::string name;
    std::string sha256;
  };
  std::string tool;
  std::vector<Input> inputs;
  std::vector<std::string> options;  // that change the result
};

// The file names in a run directory. The SHA-256 of a workload is that of its manifest, which
// contains the hashes of the traces and the texts that the topology follows from.
inline constexpr const char* kWorkloadName = "1-workload";
inline constexpr const char* kManifestName = "1-workload/manifest.pb";
inline constexpr const char* kTopologyName = "1-workload/topology.pb";
inline constexpr const char* kFlowPlanName = "2-flows.pb";
inline constexpr const char* kKernelTimesName = "3-times.pb";
inline constexpr const char* kTimelineName = "4-timeline.pb";
inline constexpr const char* kWhatIfName = "4-what-if.pb";

enum class WorkloadParts { kTables, kAll };  // kTables leaves Workload::programs empty

// `cluster`: the texts that the topology of `workload` follows from, and the variation.
// `attention_backend`: one of core/model/attention_backend.h, or "" if unknown.
Status WriteWorkload(const std::string& run, const Workload& workload, const ClusterInput& cluster,
                     const Provenance& provenance, const std::string& attention_backend = "");
// Returns a hash of all that later tools read of a workload. The texts of the cluster do not count,
// only what follows from them; neither do the replaced values. Errors: those of WriteWorkload.
Result<std::string> DigestOf(const Workload& workload, const ClusterInput& cluster,
                             const std::string& attention_backend = "");
struct WorkloadFile {
  Workload workload;
  ClusterInput cluster;  // without its topology, which is in the workload
  std::string attention_backend;
  std::string maker;  // the tool
  std::string sha256;
};
Result<WorkloadFile> ReadWorkload(const std::string& run, WorkloadParts parts);

Status WriteFlowPlan(const std::string& run, const FlowPlan& plan, const Provenance& provenance);
Status WriteKernelTimes(const std::string& run, const KernelTimes& times,
                        const Provenance& provenance);
Status WriteWhatIf(const std::string& run, const WhatIf& what_if, const Provenance& provenance);
Status WriteTimeline(const std::string& run, const Timeline& timeline,
                     const Provenance& provenance);

// Each function checks that the artefact was made from `workload`. ReadTimeline also checks that it
// was made from the present plan and kernel times. *sha256, if not null, receives the artefact's
// own hash.
Result<FlowPlan> ReadFlowPlan(const std::string& run, const WorkloadFile& workload,
                              std::string* sha256 = nullptr);
Result<KernelTimes> ReadKernelTimes(const std::string& run, const WorkloadFile& workload,
                                    std::string* sha256 = nullptr);
Result<Timeline> ReadTimeline(const std::string& run, const WorkloadFile& workload,
                              std::string* sha256 = nullptr);
// Checks the same inputs as ReadTimeline. Only some runs have this artefact (see FileExists).
Result<WhatIf> ReadWhatIf(const std::string& run, const WorkloadFile& workload);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_ARTEFACTS_H_
