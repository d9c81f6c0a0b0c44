// The commands of simccl.
#ifndef DRYDOCK_SIMCCL_COMMANDS_H_
#define DRYDOCK_SIMCCL_COMMANDS_H_

#include <memory>
#include <string>

#include "core/base/cli.h"

namespace drydock {

std::unique_ptr<Command> MakePlanCommand();
std::unique_ptr<Command> MakeExplainCommand();
std::unique_ptr<Command> MakeExpandCommand();

// --nccl-library, which all commands have.
void DeclareLibrary(CLI::App* app, std::string* library);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_COMMANDS_H_
