// The command of workload-gen that makes a cluster file.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_CLUSTER_COMMAND_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_CLUSTER_COMMAND_H_

#include <memory>

#include "core/base/cli.h"

namespace drydock {

std::unique_ptr<Command> MakeImportClusterCommand();

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_CLUSTER_COMMAND_H_
