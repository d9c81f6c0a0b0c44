#include "exec-engine/fluid_folding.h"

#include <algorithm>
#include <map>

#include "core/model/connection_shape.h"

namespace drydock {

std::vector<AlikeWay> AlikeWays(const ReplicaFolding& folding, const FluidWays& ways, uint32_t wire,
                                uint32_t queue_pair) {
  std::vector<AlikeWay> alike;
  for (FlowEnds flow : folding.AlikeFlows(wire)) {
    flow.flow = FlowOfQueuePair(flow.flow, queue_pair);
    if (const auto ends = ways.Between(flow)) {
      alike.push_back({*ends, folding.Replayed(flow.destination)});
    }
  }
  return alike;
}

FluidWays::Uses UsesOfAll(const FluidWays& ways, const FluidEnds& own,
                          std::span<const AlikeWay> alike) {
  std::map<uint32_t, uint32_t> shares = {
      {own.ends.first, static_cast<uint32_t>(FluidSharing::kWhole)}};
  for (const AlikeWay& way : alike) {
    const auto& [first, last] = way.ends.ends;
    for (const FluidSharing::Use& use : ways.DataUses(way.ends)) {
      const bool counts = use.link == last ? way.arrives : use.link != first;
      if (counts) shares[use.link] += use.share;
    }
  }
  FluidWays::Uses uses;
  for (const auto& [link, share] : shares) uses.push_back({link, share, 0});
  return uses;
}

Time MeanAckTime(const FluidWays& ways, std::span<const AlikeWay> alike) {
  int64_t sum = 0;
  for (const AlikeWay& way : alike) sum += ways.AckTime(way.ends);
  return Time::Ps(sum / std::max<int64_t>(static_cast<int64_t>(alike.size()), 1));
}

Time TimeAlone(const FluidSettings& set, const FabricPath& path, int64_t bytes) {
  const int64_t rate = path.bottleneck.bits_per_second();
  const int64_t stored = std::min(bytes, set.cut_through > 0 ? set.cut_through : set.mtu);
  return path.latency + set.TimeFor(bytes, rate) + set.TimeFor(stored, rate) * path.switches;
}

}  // namespace drydock
