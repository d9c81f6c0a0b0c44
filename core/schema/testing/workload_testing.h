// A small cluster and a small run for tests of the schema. Each field of every table and artefact
// has a value.
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

// Writes all artefacts into `run`. Returns false if one cannot be written.
bool WriteToyRun(const std::string& run);

// Returns every field of a value as text, one per line. Equal texts mean equal values.
std::string Dump(const Workload& workload);
std::string Dump(const FlowPlan& plan);
std::string Dump(const KernelTimes& times);
std::string Dump(const Timeline& timeline);

}  // namespace drydock::testing

#endif  // DRYDOCK_CORE_SCHEMA_TESTING_WORKLOAD_TESTING_H_
