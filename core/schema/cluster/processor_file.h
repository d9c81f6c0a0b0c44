// Reads configs/processors.yaml: how fast a core of each processor launches work where cluster.topo
// states no launch_speed, with its source.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_PROCESSOR_FILE_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_PROCESSOR_FILE_H_

#include <map>
#include <string>

#include "core/base/result.h"

namespace drydock {

// Board::launch_speed by processor, one of CpuNames().
using LaunchSpeeds = std::map<std::string, double>;

// The result has all of CpuNames(). Reports all mistakes at once.
Result<LaunchSpeeds> ParseProcessorFile(const std::string& text, const std::string& file_name);

// The file in the configs of this build.
std::string ProcessorPath();
Result<LaunchSpeeds> LoadLaunchSpeeds();

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_PROCESSOR_FILE_H_
