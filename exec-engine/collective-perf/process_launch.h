// How the processes of a sweep launch its calls (nccl-tests' -g), and what a launch costs them
// (configs/nccl-tests.yaml).
#ifndef DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_PROCESS_LAUNCH_H_
#define DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_PROCESS_LAUNCH_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/topology.h"
#include "core/model/workload.h"

namespace drydock {

// Reports all mistakes at once.
Result<Time> ParseLaunchTime(const std::string& text, const std::string& file_name);

// The file in the configs of this build.
std::string LaunchTimePath();
Result<Time> LoadLaunchTime();

// Returns an error if the members of a host, in some group, cannot be divided among processes of
// `gpus` GPUs.
Status CheckProcesses(int gpus, const std::vector<Group>& groups, const Topology& topology);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_PROCESS_LAUNCH_H_
