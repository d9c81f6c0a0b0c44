// Runs another program of this machine and collects what it prints.
#ifndef DRYDOCK_CAPTURE_STANDINS_COMMAND_H_
#define DRYDOCK_CAPTURE_STANDINS_COMMAND_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock::capture {

// Looks the first word up in PATH. Returns stdout and stderr together; the error has the first
// lines of it, or the reason why the program cannot be started.
Result<std::string> RunCommand(const std::vector<std::string>& words);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_STANDINS_COMMAND_H_
