#include "exec-engine/networks/fluid/fluid_paths.h"

#include <algorithm>

#include "core/model/fabric/connection_shape.h"
#include "core/model/fabric/idle_time.h"
#include "core/model/fabric/spread_paths.h"

namespace drydock {

std::optional<FluidRoute> FluidPaths::RouteOf(const FlowEnds& flow) const {
  const uint32_t hash =
      PathHash(flow.source, flow.source_nic, flow.destination, flow.destination_nic, flow.flow);
  const auto ends =
      map_.PickAccess(static_cast<uint32_t>(flow.source), flow.source_nic,
                      static_cast<uint32_t>(flow.destination), flow.destination_nic, hash);
  if (!ends) return std::nullopt;
  return FluidRoute{*ends, hash};
}

// Where a part is lost, because a switch has no path, the other parts carry more.
FluidPaths::Uses FluidPaths::DataUses(const FluidRoute& route) const {
  Uses uses;
  if (!set_.split) {
    for (const uint32_t link : map_.LinksOf(route.ends, route.hash)) {
      uses.push_back({link, static_cast<uint32_t>(FluidSharing::kWhole), 0});
    }
    return uses;
  }
  for (const LinkShare& part : SpreadShares(map_, route.ends, FluidSharing::kWhole)) {
    uses.push_back({part.link, static_cast<uint32_t>(std::max<int64_t>(part.share, 1)), 0});
  }
  return uses;
}

FluidPaths::Uses FluidPaths::AckUses(const FluidRoute& route) const {
  Uses uses;
  for (const uint32_t link : map_.LinksOf(route.back(), route.hash)) {
    uses.push_back({link, set_.AckShare(), 0});
  }
  return uses;
}

int64_t FluidPaths::SlowestRate(const FluidRoute& route) const {
  const FabricMap& map = map_.unbroken();
  int64_t slowest = FluidSharing::kNoLimit;
  for (const uint32_t link : map.LinksOf(route.ends, route.hash)) {
    slowest = std::min(slowest, map.direction(link).full_rate.bits_per_second());
  }
  return slowest;
}

int64_t FluidPaths::Tail(const FluidRoute& route, int64_t bytes) const {
  const int64_t full = (bytes - 1) / set_.mtu;
  const int64_t last = bytes - full * set_.mtu + set_.header;
  const int64_t alone =
      MeasureIdlePart(map_, {route.ends, route.hash, full, set_.FrameBytes(), last});
  return alone - set_.TimeFor(bytes, SlowestRate(route)).ps();
}

int64_t FluidPaths::AckTime(const FluidRoute& route) const {
  return map_.MeasurePath(route.back(), route.hash, set_.ack).time;
}

int64_t FluidPaths::RoundTrip(const FluidRoute& route) const {
  return map_.MeasurePath(route.ends, route.hash, set_.FrameBytes()).time + AckTime(route);
}

int64_t FluidPaths::WindowBytes(const FluidRoute& route) const {
  const int64_t slowest = map_.MeasurePath(route.ends, route.hash, set_.FrameBytes()).slowest;
  return PacketsInFlight(set_.window, RoundTrip(route), slowest, set_.packets_per_ack) *
         set_.FrameBytes();
}

int64_t FluidPaths::WindowRate(const FluidRoute& route) const {
  if (!set_.window_set) return FluidSharing::kNoLimit;  // the default window limits no flow
  const double rate =
      static_cast<double>(WindowBytes(route) * 8) / Time::Ps(RoundTrip(route)).seconds();
  return rate < static_cast<double>(FluidSharing::kNoLimit) ? static_cast<int64_t>(rate)
                                                            : FluidSharing::kNoLimit;
}

}  // namespace drydock
