#include "exec-engine/networks/fluid/fluid_settings.h"

#include <algorithm>

#include "core/model/fabric/spread_paths.h"
#include "core/model/fabric/transport_attributes.h"
#include "exec-engine/networks/fluid/fluid_sharing.h"

namespace drydock {

const std::vector<std::string>& FluidAttributes() {
  static const std::vector<std::string> names = {kWindowBdp.name, kCutThrough.name,
                                                 kRerouteTime.name};
  return names;
}

Result<FluidSettings> FluidSettingsOf(const Topology& topology) {
  const Transport& transport = topology.transport;
  FluidSettings set;
  set.mtu = transport.mtu.count();
  set.header = transport.header.count();
  set.ack = transport.ack.count();
  set.packets_per_ack = transport.packets_per_ack;
  set.split = Spreads(topology);
  const TransportSettings& attributes = transport.attributes;
  ASSIGN_OR_RETURN(set.window, ValueOf(kWindowBdp, attributes));
  set.window_set = std::any_of(attributes.begin(), attributes.end(), [](const auto& attribute) {
    return attribute.first == kWindowBdp.name;
  });
  ASSIGN_OR_RETURN(const uint64_t cut_through, ValueOf(kCutThrough, attributes));
  set.cut_through = static_cast<int64_t>(cut_through);
  ASSIGN_OR_RETURN(set.reroute_time, ValueOf(kRerouteTime, attributes));
  return set;
}

uint32_t FluidSettings::AckShare() const {
  const int64_t acknowledged = packets_per_ack * FrameBytes();
  const int64_t share = (ack * FluidSharing::kWhole + acknowledged - 1) / acknowledged;
  return static_cast<uint32_t>(std::min(share, FluidSharing::kWhole));
}

}  // namespace drydock
