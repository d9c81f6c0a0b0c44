#include "capture/classes/capture_program.h"

namespace drydock::capture {

Result<CapturedWorkload> CaptureProgram(const CaptureEnvironment& /*environment*/,
                                        const Topology& /*topology*/,
                                        const CaptureOptions& options) {
  return Error("cannot capture '" + options.command.front() + "' yet");
}

}  // namespace drydock::capture
