// exec-engine what-if: how the iteration time would change if something were faster.
#ifndef DRYDOCK_EXEC_ENGINE_WHAT_IF_COMMAND_H_
#define DRYDOCK_EXEC_ENGINE_WHAT_IF_COMMAND_H_

#include <string>

#include "core/base/cli.h"
#include "core/base/processes.h"

namespace drydock {

struct WhatIfCommand {
  CLI::App* command = nullptr;
  std::string run;
  std::string better = "10";
  std::string only;
  std::string network;  // empty: the timeline's
  std::string threads = "auto";
  bool dump = false;
};

void DeclareWhatIf(CLI::App* app, CommonOptions* common, WhatIfCommand* options);
Status RunWhatIf(const WhatIfCommand& options, const CommonOptions& common, Processes* processes);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_WHAT_IF_COMMAND_H_
