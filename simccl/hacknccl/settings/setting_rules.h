// What NCCL's settings mean to a cluster that does not exist: which decide something, which cannot
// matter, which are refused, and which values NCCL would not take.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SETTINGS_SETTING_RULES_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SETTINGS_SETTING_RULES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/nccl/hacknccl.h"

namespace drydock {

// All names NCCL's sources look up, sorted; written by third_party/nccl/list_settings.py.
struct SettingName {
  const char* name;
  bool is_number;  // declared with NCCL_PARAM
};
extern const SettingName kSettingNames[];
extern const size_t kSettingNameCount;

// All settings in the order of kSettingNames. Lives as long as the library.
const std::vector<hacknccl_setting_info>& SettingInfos();

// "" or why NCCL would not take this value.
std::string CheckValue(const SettingName& setting, const std::string& value);

// "" or what is wrong with the name or the value, in NCCL's own words where it has any.
std::string CheckSetting(const std::string& name, const std::string& value);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SETTINGS_SETTING_RULES_H_
