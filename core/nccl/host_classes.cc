#include "core/nccl/host_classes.h"

namespace drydock {

HostClasses::HostClasses(const std::vector<NcclHost>& hosts) {
  for (const NcclHost& host : hosts) {
    auto& gpus = gpus_.emplace_back();
    for (const std::string& bus_id : host.gpu_bus_ids) gpus.push_back({bus_id.c_str()});
    auto& nics = nics_.emplace_back();
    for (const NcclHost::Nic& nic : host.nics) {
      nics.push_back({nic.name.c_str(), nic.bus_id.c_str(), nic.speed_mbps});
    }
    classes_.push_back({host.xml.data(), host.xml.size(), gpus.data(), gpus.size(), nics.data(),
                        nics.size(), host.compute_capability, host.sm_count, host.memory_bytes,
                        host.multicast, host.collnet, host.trays});
  }
}

}  // namespace drydock
