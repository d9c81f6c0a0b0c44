// The command line of drydock-capture.
#ifndef DRYDOCK_CAPTURE_COMMAND_CAPTURE_COMMAND_H_
#define DRYDOCK_CAPTURE_COMMAND_CAPTURE_COMMAND_H_

#include <memory>

#include "core/base/cli.h"

namespace drydock {

std::unique_ptr<Command> MakeCaptureCommand();

}  // namespace drydock

#endif  // DRYDOCK_CAPTURE_COMMAND_CAPTURE_COMMAND_H_
