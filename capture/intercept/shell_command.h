// Commands that a shell or the system executes: which script?
#ifndef DRYDOCK_CAPTURE_INTERCEPT_SHELL_COMMAND_H_
#define DRYDOCK_CAPTURE_INTERCEPT_SHELL_COMMAND_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock::capture {

struct ShellCommand {
  std::vector<std::string> words;  // as they start; the first is looked up in PATH
  std::string script;              // the file that a shell reads; "" if it reads none (bash -c)
};

// "bash -e job.sh 8", "./job.sh 8", "srun ...". Errors: there is no such script or program, or it
// cannot be executed.
Result<ShellCommand> ReadShellCommand(const std::vector<std::string>& words);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_INTERCEPT_SHELL_COMMAND_H_
