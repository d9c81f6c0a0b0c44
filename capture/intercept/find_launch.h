// From the words behind "drydock capture ... --" to what they start.
#ifndef DRYDOCK_CAPTURE_INTERCEPT_FIND_LAUNCH_H_
#define DRYDOCK_CAPTURE_INTERCEPT_FIND_LAUNCH_H_

#include <optional>
#include <string>
#include <vector>

#include "capture/intercept/script_run.h"
#include "capture/launch/launch.h"
#include "core/base/result.h"

namespace drydock::capture {

struct FoundLaunches {
  std::vector<Launch> launches;     // in the order of the script; each once
  std::vector<std::string> notes;   // what the user has to know of them
  std::optional<ScriptRun> script;  // if a script has run; keeps the files that it has written
};

// Launchers and Python are read, and nothing runs; everything else is a script and runs. Python
// without a launcher is one rank, unless the environment has RANK and WORLD_SIZE. Errors: nothing
// is launched, and why; a launcher that is wrong or leaves open what it starts.
Result<FoundLaunches> FindLaunches(const std::vector<std::string>& words,
                                   const ScriptOptions& options);

// Whether FindLaunches would execute these words.
bool IsScript(const std::vector<std::string>& words);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_INTERCEPT_FIND_LAUNCH_H_
