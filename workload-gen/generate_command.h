// The main command of workload-gen: from a training job and a cluster to a workload.
#ifndef DRYDOCK_WORKLOAD_GEN_GENERATE_COMMAND_H_
#define DRYDOCK_WORKLOAD_GEN_GENERATE_COMMAND_H_

#include <memory>

#include "core/base/cli.h"

namespace drydock {

std::unique_ptr<Command> MakeGenerateCommand();

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GENERATE_COMMAND_H_
