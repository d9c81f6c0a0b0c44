// Commands that only surround another command: numactl, nsys profile, uv run, docker run, ssh ...
#ifndef DRYDOCK_CAPTURE_INTERCEPT_WRAPPERS_H_
#define DRYDOCK_CAPTURE_INTERCEPT_WRAPPERS_H_

#include <optional>
#include <string>
#include <vector>

#include "core/base/process.h"
#include "core/base/result.h"

namespace drydock::capture {

struct InsideCommand {
  std::vector<std::string> words;  // empty if the wrapper starts none ("conda activate")
  Variables environment;           // that the wrapper's options set
  std::string folder;              // in which it starts; "": that of the wrapper
  std::string ignored;             // an option that is not followed: "--env-file vars"; or ""
  bool elsewhere = false;          // it would run in a container or on another machine
};

// Returns nothing if the first word is no wrapper. The command of ssh and its kin is one for a
// shell. Errors: an unknown option, as nobody knows where the command begins then.
Result<std::optional<InsideCommand>> CommandInside(const std::vector<std::string>& words);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_INTERCEPT_WRAPPERS_H_
