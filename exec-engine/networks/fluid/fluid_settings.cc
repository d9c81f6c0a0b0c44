#include "exec-engine/networks/fluid/fluid_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/model/fabric/idle_time.h"
#include "exec-engine/networks/fluid/fluid_sharing.h"

namespace drydock {
namespace {

constexpr char kWindow[] = "RdmaTransport::WindowBdp";
constexpr char kCutThrough[] = "FabricSwitch::CutThrough";
constexpr char kReroute[] = "FaultInjector::RerouteTime";

template <typename T>
Result<T> ParseNumber(const std::string& name, const std::string& text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return Error(fmt::format("attribute '{}' is '{}', which is not a number", name, text));
  }
  return value;
}

}  // namespace

const std::vector<std::string>& FluidAttributes() {
  static const std::vector<std::string> names = {kWindow, kCutThrough, kReroute};
  return names;
}

Result<FluidSettings> FluidSettingsOf(const Topology& topology) {
  const Transport& transport = topology.transport;
  FluidSettings set;
  set.mtu = transport.mtu.count();
  set.header = transport.header.count();
  set.ack = transport.ack.count();
  set.packets_per_ack = transport.packets_per_ack;
  set.split = topology.fabric.routing == "spray" || topology.fabric.routing == "adaptive";
  set.reroute_time = kRerouteTime;
  for (const auto& [name, text] : transport.attributes) {
    if (name == kWindow) {
      ASSIGN_OR_RETURN(set.window, ParseNumber<double>(name, text));
    } else if (name == kCutThrough) {
      ASSIGN_OR_RETURN(set.cut_through, ParseNumber<int64_t>(name, text));
    } else if (name == kReroute) {
      ASSIGN_OR_RETURN(set.reroute_time, ParseTime(text));
    }
  }
  return set;
}

uint32_t FluidSettings::AckShare() const {
  const int64_t acknowledged = packets_per_ack * FrameBytes();
  const int64_t share = (ack * FluidSharing::kWhole + acknowledged - 1) / acknowledged;
  return static_cast<uint32_t>(std::min(share, FluidSharing::kWhole));
}

}  // namespace drydock
