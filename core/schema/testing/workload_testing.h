// A small cluster and a small run for tests of the schema: every table and artefact has a value in
// each field.
#ifndef DRYDOCK_CORE_SCHEMA_TESTING_WORKLOAD_TESTING_H_
#define DRYDOCK_CORE_SCHEMA_TESTING_WORKLOAD_TESTING_H_

#include <string>
#include <utility>
#include <vector>

#include "core/schema/artefacts/artefacts.h"

namespace drydock::testing {

// Two hosts of two GPUs and two NICs, rail-optimised, and the files that the cluster names.
std::string ToyClusterText();
std::vector<std::pair<std::string, std::string>> ToyFiles();
std::string ToyGpuText();
ClusterInput ToyCluster();

// TP 2 inside the hosts, DP 2 between them, a pipeline message: two classes of two ranks.
Workload ToyWorkload();
FlowPlan ToyFlowPlan(const Workload& workload);
KernelTimes ToyKernelTimes(const Workload& workload);
Timeline ToyTimeline(const Workload& workload);

// Writes all four artefacts into `run`. Returns false if one cannot be written.
bool WriteToyRun(const std::string& run);

// Return every field of a noun as text, one per line: equal texts mean equal nouns.
std::string Dump(const Workload& workload);
std::string Dump(const FlowPlan& plan);
std::string Dump(const KernelTimes& times);
std::string Dump(const Timeline& timeline);

}  // namespace drydock::testing

#endif  // DRYDOCK_CORE_SCHEMA_TESTING_WORKLOAD_TESTING_H_
