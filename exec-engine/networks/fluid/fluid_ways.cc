#include "exec-engine/networks/fluid/fluid_ways.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "core/model/fabric/connection_shape.h"

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
    return Error(fmt::format("attribute '{}' is '{}', which is no number", name, text));
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

std::optional<FluidEnds> FluidWays::Between(const FlowEnds& flow) const {
  const uint32_t path =
      PathHash(flow.source, flow.source_nic, flow.destination, flow.destination_nic, flow.flow);
  const auto ends =
      map_.PickAccess(static_cast<uint32_t>(flow.source), flow.source_nic,
                      static_cast<uint32_t>(flow.destination), flow.destination_nic, path);
  if (!ends) return std::nullopt;
  return FluidEnds{*ends, path};
}

// Where the bits are spread over equal ways, switch by switch in equal parts; a part that comes to
// a switch that knows no way on is lost, and the others carry more.
FluidWays::Uses FluidWays::DataUses(const FluidEnds& way) const {
  Uses uses;
  if (!set_.split) {
    for (const uint32_t link : map_.LinksOf(way.ends, way.path)) {
      uses.push_back({link, static_cast<uint32_t>(FluidSharing::kWhole), 0});
    }
    return uses;
  }
  std::map<uint32_t, int64_t> level = {{way.ends.first, FluidSharing::kWhole}};  // link, share
  for (;;) {
    std::map<uint32_t, int64_t> next;
    for (const auto& [link, share] : level) {
      uses.push_back({link, static_cast<uint32_t>(std::max<int64_t>(share, 1)), 0});
      if (link == way.ends.second) continue;
      const uint32_t node = map_.direction(link).to_node;
      const auto ports = map_.NextPorts(node - map_.host_count(), way.ends.second);
      for (const uint16_t port : ports) {
        next[map_.ports_of(node)[port]] += share / static_cast<int64_t>(ports.size());
      }
    }
    if (next.empty()) break;
    level = std::move(next);
  }
  return uses.back().link == way.ends.second ? uses : Uses();
}

FluidWays::Uses FluidWays::AckUses(const FluidEnds& way) const {
  Uses uses;
  for (const uint32_t link : map_.LinksOf(way.back(), way.path)) {
    uses.push_back({link, set_.AckShare(), 0});
  }
  return uses;
}

int64_t FluidWays::SlowestRate(const FluidEnds& way) const {
  const FabricMap& map = map_.unbroken();
  int64_t slowest = FluidSharing::kNoLimit;
  for (const uint32_t link : map.LinksOf(way.ends, way.path)) {
    slowest = std::min(slowest, map.direction(link).made.bits_per_second());
  }
  return slowest;
}

int64_t FluidWays::Tail(const FluidEnds& way, int64_t bytes) const {
  const int64_t full = (bytes - 1) / set_.mtu;
  const int64_t last = bytes - full * set_.mtu + set_.header;
  const int64_t alone = MeasureIdlePart(map_, {way.ends, way.path, full, set_.FrameBytes(), last});
  return alone - set_.TimeFor(bytes, SlowestRate(way)).ps();
}

int64_t FluidWays::AckTime(const FluidEnds& way) const {
  return map_.MeasurePath(way.back(), way.path, set_.ack).time;
}

int64_t FluidWays::RoundTrip(const FluidEnds& way) const {
  return map_.MeasurePath(way.ends, way.path, set_.FrameBytes()).time + AckTime(way);
}

int64_t FluidWays::WindowBytes(const FluidEnds& way) const {
  const int64_t slowest = map_.MeasurePath(way.ends, way.path, set_.FrameBytes()).slowest;
  return PacketsInFlight(set_.window.value_or(kWindowBdp), RoundTrip(way), slowest,
                         set_.packets_per_ack) *
         set_.FrameBytes();
}

int64_t FluidWays::WindowRate(const FluidEnds& way) const {
  if (!set_.window) return FluidSharing::kNoLimit;  // as it is, it holds no flow back
  const double rate =
      static_cast<double>(WindowBytes(way) * 8) / Time::Ps(RoundTrip(way)).seconds();
  return rate < static_cast<double>(FluidSharing::kNoLimit) ? static_cast<int64_t>(rate)
                                                            : FluidSharing::kNoLimit;
}

}  // namespace drydock
