// Reads configs/host-launch.yaml: the costs of launching work on a host, one set per launch mode of
// a framework, each with its source (docs/explanation/host-launch.md).
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_HOST_LAUNCH_FILE_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_HOST_LAUNCH_FILE_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/host_launch.h"

namespace drydock {

// Returns the sets in the order of the file, with distinct names. Reports all mistakes at once.
Result<std::vector<HostLaunch>> ParseHostLaunchFile(const std::string& text,
                                                    const std::string& file_name);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_HOST_LAUNCH_FILE_H_
