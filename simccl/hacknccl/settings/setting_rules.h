// What NCCL's settings mean for a virtual cluster: which settings decide something, which have no
// effect, which are refused, and which values NCCL does not accept.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SETTINGS_SETTING_RULES_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SETTINGS_SETTING_RULES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/nccl/hacknccl.h"

namespace drydock {

// All names that NCCL's sources look up, sorted. third_party/nccl/list_settings.py writes the
// table.
struct SettingName {
  const char* name;
  bool is_number;  // declared with NCCL_PARAM
};
extern const SettingName kSettingNames[];
extern const size_t kSettingNameCount;

// Returns all settings in the order of kSettingNames. They live as long as the library.
const std::vector<hacknccl_setting_info>& SettingInfos();

// Returns "" or why NCCL does not accept this value.
std::string CheckValue(const SettingName& setting, const std::string& value);

// Returns "" or what is wrong with the name or the value, in NCCL's own words if it has any.
std::string CheckSetting(const std::string& name, const std::string& value);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SETTINGS_SETTING_RULES_H_
