#include "exec-engine/networks/fluid/fluid_folding.h"

#include <algorithm>
#include <map>

#include "core/model/fabric/connection_shape.h"

namespace drydock {

std::vector<ReplicaRoute> ReplicaRoutes(const ReplicaMap& replicas, const FluidPaths& paths,
                                        uint32_t folded_connection, uint32_t queue_pair) {
  std::vector<ReplicaRoute> routes;
  for (FlowEnds flow : replicas.ReplicaFlows(folded_connection)) {
    flow.flow = FlowOfQueuePair(flow.flow, queue_pair);
    if (const auto route = paths.RouteOf(flow)) {
      routes.push_back({*route, replicas.IsRepresentative(flow.destination)});
    }
  }
  return routes;
}

FluidPaths::Uses ReplicaDataUses(const FluidPaths& paths, const FluidRoute& own,
                                 std::span<const ReplicaRoute> routes) {
  std::map<uint32_t, uint32_t> shares;
  for (const ReplicaRoute& replica : routes) {
    const auto& [first, last] = replica.route.ends;
    for (const FluidSharing::Use& use : paths.DataUses(replica.route)) {
      const bool counts = use.link == last ? replica.at_representative : use.link != first;
      if (counts) shares[use.link] += use.share;
    }
  }
  FluidPaths::Uses uses = {{own.ends.first, static_cast<uint32_t>(FluidSharing::kWhole), 0}};
  for (const auto& [link, share] : shares) uses.push_back({link, share, 0});
  return uses;
}

FluidPaths::Uses ReplicaAckUses(const FluidPaths& paths, const FluidRoute& own,
                                std::span<const ReplicaRoute> routes) {
  std::map<uint32_t, uint32_t> shares;
  for (const ReplicaRoute& replica : routes) {
    const auto [out, in] = replica.route.back();
    for (const FluidSharing::Use& use : paths.AckUses(replica.route)) {
      const bool counts = use.link == out  ? replica.at_representative
                          : use.link == in ? use.link == own.back().second
                                           : true;
      if (counts) shares[use.link] += use.share;
    }
  }
  FluidPaths::Uses uses;
  for (const auto& [link, share] : shares) uses.push_back({link, share, 0});
  return uses;
}

namespace {

template <typename Value>
int64_t Mean(std::span<const ReplicaRoute> routes, const Value& value) {
  int64_t sum = 0;
  for (const ReplicaRoute& replica : routes) sum += value(replica.route);
  return sum / std::max<int64_t>(static_cast<int64_t>(routes.size()), 1);
}

}  // namespace

Time MeanAckTime(const FluidPaths& paths, std::span<const ReplicaRoute> routes) {
  return Time::Ps(Mean(routes, [&](const FluidRoute& route) { return paths.AckTime(route); }));
}

int64_t MeanWindowBytes(const FluidPaths& paths, std::span<const ReplicaRoute> routes) {
  return Mean(routes, [&](const FluidRoute& route) { return paths.WindowBytes(route); });
}

Time IdleTime(const FluidSettings& set, const FabricPath& path, int64_t bytes) {
  const int64_t rate = path.bottleneck.bits_per_second();
  const int64_t stored = std::min(bytes, set.cut_through > 0 ? set.cut_through : set.mtu);
  return path.latency + set.TimeFor(bytes, rate) + set.TimeFor(stored, rate) * path.switches;
}

}  // namespace drydock
