// Reads the command lines of launchers that start the ranks of a program themselves: torchrun and
// its modules, deepspeed, accelerate. What an option means is the launcher's documentation; one
// that is not known is an error.
#ifndef DRYDOCK_CAPTURE_LAUNCH_LAUNCHERS_H_
#define DRYDOCK_CAPTURE_LAUNCH_LAUNCHERS_H_

#include <string>
#include <vector>

#include "capture/launch/call.h"
#include "capture/launch/launch.h"
#include "core/base/result.h"

namespace drydock::capture {

// Whether these words start one of these launchers: by name, or as a module of Python. Words such
// as "accelerate config", which launch nothing, do not.
bool IsLauncher(const std::vector<std::string>& words);

// REQUIRES: IsLauncher(call.words). Errors: an option that the launcher does not have, a number
// that is missing, ranks that are not the same on each host.
Result<Launch> ReadLauncher(const Call& call, const ClusterSize& cluster);

// A program that is started by itself, or by the job step around the call: one rank for each task
// of the step. REQUIRES: the words start a file or module with Python.
Result<Launch> ReadProgram(const Call& call, const ClusterSize& cluster);

// For each launcher: `python` is the interpreter that it belongs to, words[arguments] the first
// word behind its name.
struct LauncherWords {
  const Call& call;
  std::string python;
  size_t arguments = 0;
};
Result<Launch> ReadTorchrun(const LauncherWords& words, const ClusterSize& cluster,
                            bool passes_local_rank);
Result<Launch> ReadDeepSpeed(const LauncherWords& words, const ClusterSize& cluster);
Result<Launch> ReadAccelerate(const LauncherWords& words, const ClusterSize& cluster);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LAUNCH_LAUNCHERS_H_
