#include "core/model/fabric/fabric_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/check.h"

namespace drydock {
namespace {

// The rate of a NIC limits its cable.
Bandwidth RateOf(const Topology& topology, const FabricLink& link) {
  Bandwidth rate = link.rate;
  for (const LinkEnd& end : {link.a, link.b}) {
    if (!end.is_switch) {
      rate = std::min(rate, topology.kind_of_host(end.index).nics.rate);
    }
  }
  return rate;
}

// Stores equal sets of ports of one switch once.
class SetStore {
 public:
  SetStore(std::vector<uint16_t>& ports) : ports_(ports) {}

  // Returns the index of the first port of `set` in the ports; appends the set if it is new.
  uint32_t Find(const std::vector<uint16_t>& set) {
    const auto [it, added] = known_.emplace(set, ports_.size());
    if (added) {
      ports_.insert(ports_.end(), set.begin(), set.end());
    }
    return static_cast<uint32_t>(it->second);
  }

 private:
  std::map<std::vector<uint16_t>, size_t> known_;
  std::vector<uint16_t>& ports_;
};

}  // namespace

FabricMap::FabricMap(const Topology& topology)
    : hosts_(static_cast<uint32_t>(topology.host_count())),
      ports_(hosts_ + topology.fabric.switches.size()) {
  for (uint32_t i = 0; i < topology.fabric.switches.size(); ++i) {
    seeds_.push_back(EcmpHash(i + 1));
    switch_names_.push_back(topology.fabric.switches[i].name);
  }
  AddDirections(topology);
  NumberLeaves();
  AddRoutes();
}

void FabricMap::AddDirections(const Topology& topology) {
  const auto node = [&](const LinkEnd& end) {
    return static_cast<uint32_t>(end.index) + (end.is_switch ? hosts_ : 0);
  };
  const auto latency = [&](const LinkEnd& end) {
    return end.is_switch ? topology.fabric.switches[static_cast<size_t>(end.index)].latency.ps()
                         : 0;
  };
  const auto nic = [](const LinkEnd& end) {
    return static_cast<int16_t>(end.is_switch ? -1 : end.nic);
  };
  for (const FabricLink& link : topology.fabric.links) {
    const Bandwidth rate = RateOf(topology, link);
    FabricDirection there{};
    there.from_node = node(link.a);
    there.to_node = node(link.b);
    there.from_port = static_cast<uint16_t>(ports_[there.from_node].size());
    ports_[there.from_node].push_back(link_count());
    there.to_port = static_cast<uint16_t>(ports_[there.to_node].size());
    ports_[there.to_node].push_back(link_count() + 1);
    there.from_nic = nic(link.a);
    there.to_nic = nic(link.b);
    there.delay = link.delay.ps() + latency(link.b);
    there.SetRate(rate);
    there.full_rate = rate;
    FabricDirection back = there;
    std::swap(back.from_node, back.to_node);
    std::swap(back.from_port, back.to_port);
    std::swap(back.from_nic, back.to_nic);
    back.delay = link.delay.ps() + latency(link.a);
    directions_.push_back(there);
    directions_.push_back(back);
  }
}

void FabricMap::NumberLeaves() {
  std::vector<uint32_t> leaf_of(seeds_.size(), kNoSwitch);
  access_.assign(directions_.size(), Access{0, kNoSwitch, 0});
  for (uint32_t link = 0; link < link_count(); ++link) {
    const FabricDirection& direction = directions_[link];
    if (IsSwitch(direction.to_node) || !IsSwitch(direction.from_node)) {
      continue;
    }
    const uint32_t switch_index = direction.from_node - hosts_;
    if (leaf_of[switch_index] == kNoSwitch) {
      leaf_of[switch_index] = leaves_++;
      leaf_switch_.push_back(switch_index);
    }
    access_[link] = Access{leaf_of[switch_index], switch_index, direction.from_port};
  }
}

std::vector<uint8_t> FabricMap::DistancesTo(uint32_t leaf_switch) const {
  std::vector<uint8_t> distance(seeds_.size(), kUnreached);
  std::vector<uint32_t> frontier{leaf_switch};
  distance[leaf_switch] = 0;
  for (uint8_t hops = 1; !frontier.empty() && hops < kUnreached; ++hops) {
    std::vector<uint32_t> next;
    for (const uint32_t at : frontier) {
      for (const uint32_t link : ports_[hosts_ + at]) {
        const uint32_t peer = directions_[link].to_node;
        if (IsSwitch(peer) && !IsDown(link) && distance[peer - hosts_] == kUnreached) {
          distance[peer - hosts_] = hops;
          next.push_back(peer - hosts_);
        }
      }
    }
    frontier.swap(next);
  }
  return distance;
}

void FabricDirection::SetRate(Bandwidth bandwidth) {
  constexpr int64_t kPsPerSecondAndByte = 8'000'000'000'000;
  const int64_t bps = bandwidth.bits_per_second();
  rate = bandwidth;
  ps_per_byte = (kPsPerSecondAndByte + bps - 1) / bps;
  exact = kPsPerSecondAndByte % bps == 0;
}

void FabricMap::SetRate(uint32_t link, Bandwidth rate) { directions_[link].SetRate(rate); }

void FabricMap::Reroute(std::vector<bool> down) {
  if (!unbroken_) {
    unbroken_ = std::make_shared<const FabricMap>(*this);
  }
  down_ = std::move(down);
  AddRoutes();
}

void FabricMap::AddRoutes() {
  const size_t switches = seeds_.size();
  sets_.clear();
  set_ports_.clear();
  routes_.assign(switches * leaves_, 0);
  distance_.assign(size_t{leaves_} * leaves_, kUnreached);
  std::vector<std::vector<uint8_t>> distances;
  for (uint32_t leaf = 0; leaf < leaves_; ++leaf) {
    distances.push_back(DistancesTo(leaf_switch_[leaf]));
    for (uint32_t other = 0; other < leaves_; ++other) {
      distance_[size_t{other} * leaves_ + leaf] = distances[leaf][leaf_switch_[other]];
    }
  }
  sets_.push_back({0, 0});
  std::vector<uint16_t> ports;
  for (uint32_t at = 0; at < switches; ++at) {
    SetStore store(set_ports_);
    std::map<uint32_t, uint32_t> set_at;  // position of the ports -> number of the set
    for (uint32_t leaf = 0; leaf < leaves_; ++leaf) {
      const std::vector<uint8_t>& distance = distances[leaf];
      if (distance[at] == 0 || distance[at] == kUnreached) {
        continue;
      }
      ports.clear();
      for (const uint32_t link : ports_[hosts_ + at]) {
        const uint32_t peer = directions_[link].to_node;
        if (IsSwitch(peer) && !IsDown(link) && distance[peer - hosts_] + 1 == distance[at]) {
          ports.push_back(directions_[link].from_port);
        }
      }
      const uint32_t first = store.Find(ports);
      const auto [it, added] = set_at.emplace(first, sets_.size());
      if (added) {
        sets_.push_back({first, static_cast<uint32_t>(ports.size())});
      }
      routes_[size_t{at} * leaves_ + leaf] = it->second;
    }
  }
}

uint8_t FabricMap::Distance(uint32_t from, uint32_t to) const {
  if (IsDown(from) || IsDown(to)) {
    return kUnreached;
  }
  const Access& start = access_[from ^ 1];
  const Access& end = access_[to];
  if (start.switch_index == kNoSwitch || end.switch_index == kNoSwitch) {
    return from == to ? 0 : kUnreached;  // a cable from NIC to NIC
  }
  const uint8_t between = distance_[size_t{start.leaf} * leaves_ + end.leaf];
  return between == kUnreached ? kUnreached : static_cast<uint8_t>(between + 1);
}

FabricMap::AccessPair FabricMap::Redirect(AccessPair ends, uint32_t path) const {
  const FabricDirection &first = directions_[ends.first], &last = directions_[ends.second];
  const AccessPair own =
      *unbroken().PickAccess(first.from_node, first.from_nic, last.to_node, last.to_nic, path);
  if (Distance(own.first, own.second) != kUnreached) return own;
  return *PickAccess(first.from_node, first.from_nic, last.to_node, last.to_nic, path);
}

uint32_t FabricMap::MaxHops() const {
  uint32_t most = 0;
  for (const uint8_t distance : distance_) {
    if (distance != kUnreached) {
      most = std::max(most, distance + 1U);
    }
  }
  return most;
}

std::string FabricMap::NameOf(uint32_t node) const {
  return IsSwitch(node) ? switch_names_[node - hosts_] : fmt::format("host {}", node);
}

std::optional<FabricMap::AccessPair> FabricMap::PickAccess(uint32_t from_host, int from_nic,
                                                           uint32_t to_host, int to_nic,
                                                           uint32_t path) const {
  std::vector<AccessPair> best;
  uint8_t least = kUnreached;
  for (const uint32_t from : ports_[from_host]) {
    for (const uint32_t out : ports_[to_host]) {
      const uint32_t to = out ^ 1;
      if (directions_[from].from_nic != from_nic || directions_[to].to_nic != to_nic) {
        continue;
      }
      const uint8_t distance = Distance(from, to);
      if (distance < least) {
        best.clear();
        least = distance;
      }
      if (distance == least && distance != kUnreached) {
        best.push_back({from, to});
      }
    }
  }
  if (best.empty()) {
    return unbroken_ ? unbroken_->PickAccess(from_host, from_nic, to_host, to_nic, path)
                     : std::nullopt;
  }
  return best[ScaleHash(EcmpHash(path), static_cast<uint32_t>(best.size()))];
}

FabricMap::PathTime FabricMap::MeasurePath(AccessPair ends, uint32_t path,
                                           int64_t wire_bytes) const {
  if (unbroken_) {
    return unbroken_->MeasurePath(ends, path, wire_bytes);
  }
  PathTime measured{0, 0, 0};
  uint32_t link = ends.first;
  int64_t begin = 0;  // when the current link can begin to send the frame
  int64_t whole = 0;  // when the last bits of the frame have arrived at the current link
  for (;;) {
    const FabricDirection& direction = directions_[link];
    const auto occupancy = [&direction](int64_t bytes) {
      return direction.full_rate.TimeFor(Bytes(bytes)).ps();
    };
    const int64_t all = occupancy(wire_bytes);
    const int64_t end = std::max(begin + all, whole);
    measured.slowest = std::max(measured.slowest, all);
    whole = end + direction.delay;
    if (link == ends.second) {
      measured.time = whole;
      return measured;
    }
    CHECK(IsSwitch(direction.to_node));
    const int64_t head = cut_through_ > 0 ? std::min(occupancy(cut_through_), all) : all;
    begin = end - all + head + direction.delay;
    ++measured.switches;
    const uint16_t port = NextPort(direction.to_node - hosts_, ends.second, path);
    link = ports_[direction.to_node][port];
  }
}

int64_t FabricMap::Lookahead(int64_t smallest_frame) const {
  int64_t lookahead = INT64_MAX;
  for (const FabricDirection& direction : directions_) {
    lookahead = std::min(lookahead, direction.delay + direction.Occupancy(smallest_frame));
  }
  return lookahead;
}

std::vector<uint32_t> FabricMap::LinksOf(AccessPair ends, uint32_t path) const {
  std::vector<uint32_t> links = {ends.first};
  while (links.back() != ends.second) {
    const uint32_t node = directions_[links.back()].to_node;
    CHECK(IsSwitch(node));
    const std::span<const uint16_t> ports = NextPorts(node - hosts_, ends.second);
    if (ports.empty()) return {};
    links.push_back(ports_[node][ports[Choose(node - hosts_, ports, path)]]);
  }
  return links;
}

uint32_t PathHash(int32_t source, int source_nic, int32_t destination, int destination_nic,
                  uint32_t flow) {
  uint32_t hash = FabricMap::EcmpHash(static_cast<uint32_t>(source) + 1);
  hash = FabricMap::EcmpHash(hash ^ static_cast<uint32_t>(destination));
  hash = FabricMap::EcmpHash(
      hash ^ (static_cast<uint32_t>(source_nic) << 16 | static_cast<uint16_t>(destination_nic)));
  return FabricMap::EcmpHash(hash ^ flow);
}

namespace {

std::string EndName(const FabricMap& map, uint32_t node, int nic) {
  return map.NameOf(node) + (nic < 0 ? "" : "/nic" + std::to_string(nic));
}

}  // namespace

std::string StartOfLink(const FabricMap& map, uint32_t link) {
  const FabricDirection& direction = map.direction(link);
  return EndName(map, direction.from_node, direction.from_nic);
}

std::string EndOfLink(const FabricMap& map, uint32_t link) {
  const FabricDirection& direction = map.direction(link);
  return EndName(map, direction.to_node, direction.to_nic);
}

}  // namespace drydock
