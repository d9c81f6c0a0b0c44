// The commands of compute-sim.
#ifndef DRYDOCK_COMPUTE_SIM_COMMANDS_H_
#define DRYDOCK_COMPUTE_SIM_COMMANDS_H_

#include <memory>

#include "core/base/cli.h"

namespace drydock {

std::unique_ptr<Command> MakeSimulateCommand();
std::unique_ptr<Command> MakeExplainCommand();
std::unique_ptr<Command> MakeFitCommand();
std::unique_ptr<Command> MakeImportCommand();

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_COMMANDS_H_
