// The fabric as a graph: where every cable leads, which ports are on a shortest path to a
// destination, and which of these ports a flow takes. The packet and the fluid network share it.
//
// Link 2c is cable c of the Topology from its end a to its end b, 2c + 1 the reverse; `link ^ 1` is
// always the other direction. Nodes are hosts, then switches; ports of a node are numbered in the
// order of its cables.
//
// Routes are kept per leaf (a switch with NICs), not per NIC: a table of switches x leaves holds
// the number of a set of ports, and equal sets are stored once. 2,048 hosts with 8 NICs on 512
// leaves and 512 spines need 2 MB.
//
// ECMP: among the ports of a set, one is chosen by the hash of the flow and the seed of the switch,
// so a flow keeps its route and switches choose independently.
//
// During a run, only SetRate and Reroute change the map. All threads may read it between changes.
#ifndef DRYDOCK_CORE_MODEL_FABRIC_FABRIC_MAP_H_
#define DRYDOCK_CORE_MODEL_FABRIC_FABRIC_MAP_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/model/topology.h"

namespace drydock {

// One direction of a cable.
struct FabricDirection {
  uint32_t from_node;   // hosts first, then switches
  uint32_t to_node;     // likewise
  uint16_t from_port;   // of the node
  uint16_t to_port;     // of the node
  int16_t from_nic;     // -1 at a switch
  int16_t to_nic;       // -1 at a switch
  int64_t delay;        // of the cable, plus the latency of the switch it leads to, ps
  int64_t ps_per_byte;  // rounded up
  Bandwidth rate;       // current
  Bandwidth full_rate;  // without faults

  // Returns how long `bytes` occupy the link, ps, rounded up.
  int64_t Occupancy(int64_t bytes) const {
    return exact ? bytes * ps_per_byte : rate.TimeFor(Bytes(bytes)).ps();
  }

  void SetRate(Bandwidth rate);

  bool exact;  // a byte takes a whole number of picoseconds
};

class FabricMap {
 public:
  // REQUIRES: every cable of the topology joins two different nodes, at a rate above 0.
  explicit FabricMap(const Topology& topology);

  uint32_t host_count() const { return hosts_; }

  uint32_t switch_count() const { return static_cast<uint32_t>(seeds_.size()); }

  uint32_t link_count() const { return static_cast<uint32_t>(directions_.size()); }

  const FabricDirection& direction(uint32_t link) const { return directions_[link]; }

  // Outgoing links of a node, by port.
  const std::vector<uint32_t>& ports_of(uint32_t node) const { return ports_[node]; }

  // Returns "host 3", or the name of a switch.
  std::string NameOf(uint32_t node) const;

  // Sets the current rate of a link. REQUIRES: at most its rate without faults.
  void SetRate(uint32_t link, Bandwidth rate);

  // Switches forward a frame when this number of its bytes has arrived; 0, the default: all bytes.
  // REQUIRES: called before the nodes are wired.
  void set_cut_through(int64_t bytes) { cut_through_ = bytes; }

  int64_t cut_through() const { return cut_through_; }

  bool IsSwitch(uint32_t node) const { return node >= hosts_; }

  // Computes routes again, without the links that are `down` (by link).
  void Reroute(std::vector<bool> down);

  // Returns the map without faults.
  const FabricMap& unbroken() const { return unbroken_ ? *unbroken_ : *this; }

  // Default: a hash of the switch's index. REQUIRES: called before the run.
  void SetSeed(uint32_t switch_index, uint32_t seed) { seeds_[switch_index] = seed; }

  uint32_t seed(uint32_t switch_index) const { return seeds_[switch_index]; }

  // Returns the ports of a switch on shortest paths to the link `to`; none if faults have cut all.
  std::span<const uint16_t> NextPorts(uint32_t switch_index, uint32_t to) const {
    const Access& access = access_[to];
    if (access.switch_index == switch_index) {
      return {&access.port, 1};
    }
    const PortSet set = sets_[routes_[uint64_t{switch_index} * leaves_ + access.leaf]];
    return {&set_ports_[set.first], set.count};
  }

  // Returns the index into `ports`, which are ports of the switch, of the port that `path` takes.
  uint32_t Choose(uint32_t switch_index, std::span<const uint16_t> ports, uint32_t path) const {
    return ports.size() == 1 ? 0
                             : ScaleHash(EcmpHash(path ^ seeds_[switch_index]),
                                         static_cast<uint32_t>(ports.size()));
  }

  // Returns the port by which a queue pair leaves a switch, with ECMP.
  uint16_t NextPort(uint32_t switch_index, uint32_t to, uint32_t path) const {
    const std::span<const uint16_t> ports = NextPorts(switch_index, to);
    return ports[Choose(switch_index, ports, path)];
  }

  // A direction from a NIC into the fabric and one from the fabric to a NIC.
  using AccessPair = std::pair<uint32_t, uint32_t>;

  // Returns the first and the last link of a flow's route. If NICs have several cables, these are
  // the ends of the shortest path, chosen by `path` among equals. If faults have cut all paths,
  // returns the ends without faults, because a queue pair keeps its peer. Returns nothing if the
  // NICs have no path without faults either.
  std::optional<AccessPair> PickAccess(uint32_t from_host, int from_nic, uint32_t to_host,
                                       int to_nic, uint32_t path) const;

  // Returns the links between which a queue pair with `ends` continues after faults: its own links
  // if a path between them remains, else other links of its NICs (another plane), if any.
  AccessPair Redirect(AccessPair ends, uint32_t path) const;

  // The times of a frame of a queue pair on an idle fabric without faults.
  struct PathTime {
    int64_t time;     // from first bit out to last bit in, ps
    int64_t slowest;  // longest occupancy of a link by a frame, ps
    uint32_t switches;
  };

  // Returns the maximum number of switches between two connected NICs of different hosts.
  uint32_t MaxHops() const;

  // Returns the links of a route, in order; empty if faults have cut it.
  std::vector<uint32_t> LinksOf(AccessPair ends, uint32_t path) const;

  PathTime MeasurePath(AccessPair ends, uint32_t path, int64_t wire_bytes) const;

  // Returns the shortest time in which one node affects another: the minimum of delay plus the
  // occupancy of the smallest frame. INT64_MAX without links.
  int64_t Lookahead(int64_t smallest_frame) const;

  // The hash function of switches: the finalizer of MurmurHash3 (public domain). It decides routes,
  // so it must not change.
  static uint32_t EcmpHash(uint32_t value) {
    value ^= value >> 16;
    value *= 0x85ebca6bU;
    value ^= value >> 13;
    value *= 0xc2b2ae35U;
    return value ^ (value >> 16);
  }

  // Scales a hash to a number below `count`.
  static uint32_t ScaleHash(uint32_t hash, uint32_t count) {
    return static_cast<uint32_t>((uint64_t{hash} * count) >> 32);
  }

 private:
  // How to reach a link that ends at a NIC.
  struct Access {
    uint32_t leaf;          // number among the leaves
    uint32_t switch_index;  // of that leaf; kNoSwitch where the cable starts at a NIC
    uint16_t port;          // of that leaf
  };

  struct PortSet {
    uint32_t first;
    uint32_t count;
  };

  static constexpr uint32_t kNoSwitch = UINT32_MAX;
  static constexpr uint8_t kUnreached = UINT8_MAX;

  void AddDirections(const Topology& topology);
  void NumberLeaves();
  void AddRoutes();
  std::vector<uint8_t> DistancesTo(uint32_t leaf_switch) const;
  // Returns the number of hops between the ends; kUnreached if there is no path.
  uint8_t Distance(uint32_t from, uint32_t to) const;
  bool IsDown(uint32_t link) const { return !down_.empty() && down_[link]; }

  uint32_t hosts_;
  int64_t cut_through_ = 0;  // bytes
  uint32_t leaves_ = 0;
  std::vector<FabricDirection> directions_;
  std::vector<bool> down_;                     // by link; empty: no link
  std::shared_ptr<const FabricMap> unbroken_;  // without faults; null until the first Reroute
  std::vector<std::vector<uint32_t>> ports_;
  std::vector<Access> access_;         // by link; only for links that end at a NIC
  std::vector<uint32_t> leaf_switch_;  // by leaf
  std::vector<uint8_t> distance_;      // by leaf and leaf
  std::vector<uint32_t> routes_;       // by switch and leaf: number of a set
  std::vector<PortSet> sets_;          // the first is empty: no path
  std::vector<uint16_t> set_ports_;
  std::vector<uint32_t> seeds_;
  std::vector<std::string> switch_names_;
};

// Returns the `path` of FabricMap's functions for a flow from a NIC to a NIC: a hash in place of
// the 5-tuple of its packets.
uint32_t PathHash(int32_t source, int source_nic, int32_t destination, int destination_nic,
                  uint32_t flow);

// Returns the ends of a link: "host 3/nic0", "leaf0".
std::string StartOfLink(const FabricMap& map, uint32_t link);
std::string EndOfLink(const FabricMap& map, uint32_t link);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_FABRIC_MAP_H_
