// Commands that only surround another command: numactl, nsys profile, uv run, apptainer exec ...
#ifndef DRYDOCK_CAPTURE_INTERCEPT_WRAPPERS_H_
#define DRYDOCK_CAPTURE_INTERCEPT_WRAPPERS_H_

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock::capture {

// Returns the command inside, which is empty if the words start none ("conda activate"). Returns
// nothing if the first word is no wrapper. Errors: an unknown option, as nobody knows where the
// command begins then.
Result<std::optional<std::vector<std::string>>> CommandInside(
    const std::vector<std::string>& words);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_INTERCEPT_WRAPPERS_H_
