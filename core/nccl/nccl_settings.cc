#include "core/nccl/nccl_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/spelling.h"

namespace drydock {
namespace {

const hacknccl_setting_info* FindInfo(const hacknccl_api& api, const std::string& name) {
  const hacknccl_setting_info* end = api.settings + api.setting_count;
  const hacknccl_setting_info* found = std::find_if(
      api.settings, end, [&](const hacknccl_setting_info& info) { return name == info.name; });
  return found == end ? nullptr : found;
}

std::string UnknownName(const hacknccl_api& api, const std::string& name) {
  std::vector<std::string> known;
  for (size_t i = 0; i < api.setting_count; ++i) known.push_back(api.settings[i].name);
  return fmt::format("NCCL {} has no setting '{}'{}", api.nccl_version, name,
                     DidYouMean(name, known));
}

}  // namespace

NcclSettingReport CheckNcclSettings(const hacknccl_api& api, const NcclSettings& settings) {
  NcclSettingReport report;
  for (size_t i = 0; i < settings.size(); ++i) {
    const auto& [name, value] = settings[i];
    const hacknccl_setting_info* info = FindInfo(api, name);
    if (info == nullptr) {
      report.problems.push_back({i, false, UnknownName(api, name)});
    } else if (api.check_setting(name.c_str(), value.c_str()) != 0) {
      const bool of_value = info->effect != HACKNCCL_SETTING_REFUSED;
      report.problems.push_back({i, of_value, api.last_error()});
    } else if (info->effect == HACKNCCL_SETTING_IDLE) {
      report.idle.push_back(fmt::format("{} ({})", name, info->reason));
    }
  }
  return report;
}

}  // namespace drydock
