// Checks a user's NCCL settings against the settings that NCCL's sources look up.
#ifndef DRYDOCK_CORE_NCCL_NCCL_SETTINGS_H_
#define DRYDOCK_CORE_NCCL_NCCL_SETTINGS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/nccl/hacknccl.h"

namespace drydock {

using NcclSettings = std::vector<std::pair<std::string, std::string>>;  // name, value

struct NcclSettingReport {
  struct Problem {
    size_t setting = 0;     // index into the settings
    bool of_value = false;  // else of the name
    std::string message;
  };
  std::vector<Problem> problems;
  // Settings that NCCL has and that have no effect here: "NCCL_DEBUG (NCCL's log is not written)".
  std::vector<std::string> idle;
};

// For an unknown name the message suggests the nearest name. For a value that NCCL refuses the
// message has NCCL's own words.
NcclSettingReport CheckNcclSettings(const hacknccl_api& api, const NcclSettings& settings);

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_NCCL_SETTINGS_H_
