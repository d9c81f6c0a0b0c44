// The command line of collective-perf.
#ifndef DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_PERF_COMMAND_H_
#define DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_PERF_COMMAND_H_

#include <memory>

#include "core/base/cli.h"

namespace drydock {

std::unique_ptr<Command> MakeCollectivePerfCommand();

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_PERF_COMMAND_H_
