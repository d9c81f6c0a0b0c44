// The commands of exec-engine. `processes` are those of this MPI run.
#ifndef DRYDOCK_EXEC_ENGINE_COMMANDS_H_
#define DRYDOCK_EXEC_ENGINE_COMMANDS_H_

#include <memory>

#include "core/base/cli.h"
#include "core/base/processes.h"

namespace drydock {

std::unique_ptr<Command> MakeReplayCommand(Processes* processes);
std::unique_ptr<Command> MakeWhatIfCommand(Processes* processes);
std::unique_ptr<Command> MakeAstraCommand();

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COMMANDS_H_
