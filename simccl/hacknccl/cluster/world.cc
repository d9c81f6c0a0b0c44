#include "simccl/hacknccl/cluster/world.h"

#include <functional>
#include <utility>

#include "simccl/hacknccl/settings/setting_rules.h"
#include "simccl/hacknccl/settings/settings.h"

namespace drydock {
namespace {

HostClass Copy(const hacknccl_host_class& in) {
  HostClass out;
  out.topology_xml.assign(in.topology_xml, in.topology_xml_bytes);
  for (size_t i = 0; i < in.gpu_count; ++i) out.gpu_bus_ids.push_back(in.gpus[i].bus_id);
  for (size_t i = 0; i < in.nic_count; ++i) {
    out.nics.push_back({in.nics[i].name, in.nics[i].bus_id, in.nics[i].speed_mbps});
  }
  out.trays = in.trays;
  out.compute_capability = in.compute_capability;
  out.sm_count = in.sm_count;
  out.memory_bytes = in.memory_bytes;
  out.multicast = in.multicast != 0;
  out.collnet = in.collnet != 0;
  out.identity = std::hash<std::string>()(out.topology_xml) + static_cast<uint64_t>(out.trays);
  return out;
}

}  // namespace

std::string OpenWorld(const hacknccl_host_class* classes, size_t class_count,
                      const hacknccl_setting* settings, size_t setting_count,
                      std::vector<HostClass>* out) {
  std::vector<std::pair<std::string, std::string>> wanted;
  for (size_t i = 0; i < setting_count; ++i) {
    const std::string error = CheckSetting(settings[i].name, settings[i].value);
    if (!error.empty()) return error;
    wanted.emplace_back(settings[i].name, settings[i].value);
  }
  if (!FixSettings(wanted)) {
    return "NCCL's settings are fixed for the life of the library; load the library again to "
           "change them";
  }
  for (size_t i = 0; i < class_count; ++i) out->push_back(Copy(classes[i]));
  return "";
}

}  // namespace drydock
