#include "core/model/fabric/spread_paths.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace drydock {
namespace {

// Returns one link into a NIC for each switch that has NICs: routes are the same for the others.
std::vector<uint32_t> LinkOfEachLeaf(const FabricMap& map) {
  std::map<uint32_t, uint32_t> link_of_leaf;
  for (uint32_t link = 0; link < map.link_count(); ++link) {
    const FabricDirection& direction = map.direction(link);
    if (map.IsSwitch(direction.from_node) && !map.IsSwitch(direction.to_node)) {
      link_of_leaf.emplace(direction.from_node, link);
    }
  }
  std::vector<uint32_t> links;
  for (const auto& [leaf, link] : link_of_leaf) links.push_back(link);
  return links;
}

// Above the rate of every cable, so that a sum over a switch's ports fits into 64 bits.
constexpr int64_t kNoLimit = int64_t{1} << 48;

int64_t RateOf(const FabricMap& map, uint32_t link) {
  return std::min(map.direction(link).rate.bits_per_second(), kNoLimit);
}

// The ports of a switch that are equally near to some NIC.
struct EqualPorts {
  uint32_t node = 0;
  std::span<const uint16_t> ports;
};

std::vector<EqualPorts> AllEqualPorts(const FabricMap& map) {
  std::vector<EqualPorts> all;
  const std::vector<uint32_t> destinations = LinkOfEachLeaf(map);
  for (uint32_t index = 0; index < map.switch_count(); ++index) {
    std::set<const uint16_t*> seen;  // equal sets are stored once
    for (const uint32_t destination : destinations) {
      const auto ports = map.NextPorts(index, destination);
      if (ports.empty() || !seen.insert(ports.data()).second) continue;
      all.push_back({map.host_count() + index, ports});
    }
  }
  return all;
}

// Returns whether the other ports of the switch bring no more than these can take. Only NICs and
// links that have room by this rule themselves are sure to bring no more than they carry.
bool HaveRoom(const FabricMap& map, const EqualPorts& equal, const std::vector<bool>& has_room) {
  const std::vector<uint32_t>& links = map.ports_of(equal.node);
  std::vector<bool> own(links.size(), false);
  int64_t slowest = kNoLimit, arriving = 0;
  for (const uint16_t port : equal.ports) {
    own[port] = true;
    slowest = std::min(slowest, RateOf(map, links[port]));
  }
  for (size_t port = 0; port < links.size(); ++port) {
    const uint32_t in = links[port] ^ 1;
    if (own[port]) continue;
    if (map.IsSwitch(map.direction(in).from_node) && !has_room[in]) return false;
    arriving += RateOf(map, in);
  }
  return arriving <= slowest * static_cast<int64_t>(equal.ports.size());
}

}  // namespace

bool Spreads(const Topology& topology) {
  const Routing routing = topology.fabric.routing;
  return routing == Routing::kSpray || routing == Routing::kAdaptive;
}

std::vector<LinkShare> SpreadShares(const FabricMap& map, FabricMap::AccessPair ends,
                                    int64_t whole) {
  std::vector<LinkShare> shares;
  std::map<uint32_t, int64_t> level = {{ends.first, whole}};  // link, share
  while (!level.empty()) {
    std::map<uint32_t, int64_t> next;
    for (const auto& [link, share] : level) {
      shares.push_back({link, share});
      if (link == ends.second) continue;
      const uint32_t node = map.direction(link).to_node;
      const auto ports = map.NextPorts(node - map.host_count(), ends.second);
      for (const uint16_t port : ports) {
        next[map.ports_of(node)[port]] += share / static_cast<int64_t>(ports.size());
      }
    }
    level = std::move(next);
  }
  return shares.back().link == ends.second ? shares : std::vector<LinkShare>();
}

std::vector<bool> NarrowLinks(const FabricMap& map) {
  const std::vector<EqualPorts> all = AllEqualPorts(map);
  std::vector<bool> has_room(map.link_count(), false);
  for (bool found = true; found;) {  // a round for each tier
    std::vector<bool> next(map.link_count(), false), full(map.link_count(), false);
    for (const EqualPorts& equal : all) {
      std::vector<bool>& here = HaveRoom(map, equal, has_room) ? next : full;
      for (const uint16_t port : equal.ports) here[map.ports_of(equal.node)[port]] = true;
    }
    for (uint32_t link = 0; link < map.link_count(); ++link) next[link] = next[link] && !full[link];
    found = next != has_room;
    has_room = std::move(next);
  }
  std::vector<bool> narrow(map.link_count(), false);
  for (uint32_t link = 0; link < map.link_count(); ++link) {
    const FabricDirection& direction = map.direction(link);
    if (!map.IsSwitch(direction.from_node) || !map.IsSwitch(direction.to_node)) continue;
    narrow[link] = !has_room[link] && !has_room[link ^ 1];
  }
  return narrow;
}

}  // namespace drydock
