// NCCL's settings. Only the caller gives them.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SETTINGS_SETTINGS_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SETTINGS_SETTINGS_H_

#include <string>
#include <utility>
#include <vector>

namespace drydock {

// Fixes the settings for the life of the library. Returns false if other settings were fixed
// before.
bool FixSettings(const std::vector<std::pair<std::string, std::string>>& settings);

// Returns the value of a setting, or null if it was not given.
const char* Setting(const char* name);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SETTINGS_SETTINGS_H_
