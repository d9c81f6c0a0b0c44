#include "exec-engine/networks/fluid/fluid_folding.h"

#include <algorithm>
#include <map>

#include "core/model/fabric/connection_shape.h"

namespace drydock {

std::vector<AlikeWay> AlikeWays(const ReplicaMap& replicas, const FluidWays& ways,
                                uint32_t folded_connection, uint32_t queue_pair) {
  std::vector<AlikeWay> alike;
  for (FlowEnds flow : replicas.ReplicaFlows(folded_connection)) {
    flow.flow = FlowOfQueuePair(flow.flow, queue_pair);
    if (const auto ends = ways.Between(flow)) {
      alike.push_back({*ends, replicas.IsRepresentative(flow.destination)});
    }
  }
  return alike;
}

FluidWays::Uses UsesOfAll(const FluidWays& ways, const FluidEnds& own,
                          std::span<const AlikeWay> alike) {
  std::map<uint32_t, uint32_t> shares;
  for (const AlikeWay& way : alike) {
    const auto& [first, last] = way.ends.ends;
    for (const FluidSharing::Use& use : ways.DataUses(way.ends)) {
      const bool counts = use.link == last ? way.arrives : use.link != first;
      if (counts) shares[use.link] += use.share;
    }
  }
  FluidWays::Uses uses = {{own.ends.first, static_cast<uint32_t>(FluidSharing::kWhole), 0}};
  for (const auto& [link, share] : shares) uses.push_back({link, share, 0});
  return uses;
}

FluidWays::Uses AckUsesOfAll(const FluidWays& ways, const FluidEnds& own,
                             std::span<const AlikeWay> alike) {
  std::map<uint32_t, uint32_t> shares;
  for (const AlikeWay& way : alike) {
    const auto [out, in] = way.ends.back();
    for (const FluidSharing::Use& use : ways.AckUses(way.ends)) {
      const bool counts = use.link == out  ? way.arrives
                          : use.link == in ? use.link == own.back().second
                                           : true;
      if (counts) shares[use.link] += use.share;
    }
  }
  FluidWays::Uses uses;
  for (const auto& [link, share] : shares) uses.push_back({link, share, 0});
  return uses;
}

namespace {

template <typename Value>
int64_t Mean(std::span<const AlikeWay> alike, const Value& value) {
  int64_t sum = 0;
  for (const AlikeWay& way : alike) sum += value(way.ends);
  return sum / std::max<int64_t>(static_cast<int64_t>(alike.size()), 1);
}

}  // namespace

Time MeanAckTime(const FluidWays& ways, std::span<const AlikeWay> alike) {
  return Time::Ps(Mean(alike, [&](const FluidEnds& ends) { return ways.AckTime(ends); }));
}

int64_t MeanWindowBytes(const FluidWays& ways, std::span<const AlikeWay> alike) {
  return Mean(alike, [&](const FluidEnds& ends) { return ways.WindowBytes(ends); });
}

Time TimeAlone(const FluidSettings& set, const FabricPath& path, int64_t bytes) {
  const int64_t rate = path.bottleneck.bits_per_second();
  const int64_t stored = std::min(bytes, set.cut_through > 0 ? set.cut_through : set.mtu);
  return path.latency + set.TimeFor(bytes, rate) + set.TimeFor(stored, rate) * path.switches;
}

}  // namespace drydock
