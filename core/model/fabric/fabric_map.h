// The fabric as a graph: where every cable leads, which ports are on a shortest way to where, and
// which of them a flow takes. What the packet and the fluid network have in common.
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
// so a flow keeps its way and switches choose independently of one another.
//
// Changes by SetRate and Reroute alone; otherwise all threads may read it.
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

// From when a cable goes down or comes back until switches choose their ways accordingly. A choice,
// for switches that see the loss of light and take the port out of their groups themselves.
inline constexpr Time kRerouteTime = Time::Us(10000);

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
  Bandwidth rate;       // at present
  Bandwidth made;       // the same without faults

  // How long `bytes` occupy it, ps, rounded up.
  int64_t Occupancy(int64_t bytes) const {
    return exact ? bytes * ps_per_byte : rate.TimeFor(Bytes(bytes)).ps();
  }

  void SetRate(Bandwidth rate);

  bool exact;  // a byte takes a whole number of picoseconds
};

class FabricMap {
 public:
  // Every cable of the topology leads from one node to another, at a rate above 0.
  explicit FabricMap(const Topology& topology);

  uint32_t host_count() const { return hosts_; }

  uint32_t switch_count() const { return static_cast<uint32_t>(seeds_.size()); }

  uint32_t link_count() const { return static_cast<uint32_t>(directions_.size()); }

  const FabricDirection& direction(uint32_t link) const { return directions_[link]; }

  // Outgoing links of a node, by port.
  const std::vector<uint32_t>& ports_of(uint32_t node) const { return ports_[node]; }

  // "host 3", or the name of a switch.
  std::string NameOf(uint32_t node) const;

  // The present rate of one direction, at most what it was made with.
  void SetRate(uint32_t link, Bandwidth rate);

  // Before the nodes are wired: switches pass a frame on when so many bytes of it are there; 0,
  // the default: when all are.
  void set_cut_through(int64_t bytes) { cut_through_ = bytes; }

  int64_t cut_through() const { return cut_through_; }

  bool IsSwitch(uint32_t node) const { return node >= hosts_; }

  // Finds routes again, none of them over links that are `down`, by number.
  void Reroute(std::vector<bool> down);

  // As it was made.
  const FabricMap& unbroken() const { return unbroken_ ? *unbroken_ : *this; }

  // Before the run. Default: a hash of the switch's index.
  void SetSeed(uint32_t switch_index, uint32_t seed) { seeds_[switch_index] = seed; }

  uint32_t seed(uint32_t switch_index) const { return seeds_[switch_index]; }

  // The ports of a switch by which the link `to` is nearest; none if faults have cut it off.
  std::span<const uint16_t> NextPorts(uint32_t switch_index, uint32_t to) const {
    const Access& access = access_[to];
    if (access.switch_index == switch_index) {
      return {&access.port, 1};
    }
    const PortSet set = sets_[routes_[uint64_t{switch_index} * leaves_ + access.leaf]];
    return {&set_ports_[set.first], set.count};
  }

  // Which of `ports` of a switch is for `path`.
  uint32_t Choose(uint32_t switch_index, std::span<const uint16_t> ports, uint32_t path) const {
    return ports.size() == 1 ? 0
                             : ScaleHash(EcmpHash(path ^ seeds_[switch_index]),
                                         static_cast<uint32_t>(ports.size()));
  }

  // The port by which a queue pair leaves a switch, with ECMP.
  uint16_t NextPort(uint32_t switch_index, uint32_t to, uint32_t path) const {
    const std::span<const uint16_t> ports = NextPorts(switch_index, to);
    return ports[Choose(switch_index, ports, path)];
  }

  // A direction from a NIC into the fabric and one from the fabric to a NIC.
  using AccessPair = std::pair<uint32_t, uint32_t>;

  // The two ends of the way of a flow: where NICs have several cables, those between which the way
  // is shortest, by `path` among equals. Where faults have cut all ways, those as if nothing were
  // broken: a queue pair knows its peer, and sends into the void. Nothing if there never is a way.
  std::optional<AccessPair> PickAccess(uint32_t from_host, int from_nic, uint32_t to_host,
                                       int to_nic, uint32_t path) const;

  // Between which cables a queue pair that runs between `ends` goes on as the fabric is now: those
  // it has by right if faults leave a way there, else others of its NICs (another plane), if any.
  AccessPair Redirect(AccessPair ends, uint32_t path) const;

  // What a frame of a queue pair meets when nothing else is about and nothing is broken.
  struct PathTime {
    int64_t time;     // from first bit out to last bit in, ps
    int64_t slowest;  // largest occupancy of one frame on one link, ps
    uint32_t switches;
  };

  // Most switches between two NICs of different hosts that reach each other.
  uint32_t MostHops() const;

  // The links of a way, in order; empty where faults have cut it.
  std::vector<uint32_t> LinksOf(AccessPair ends, uint32_t path) const;

  PathTime MeasurePath(AccessPair ends, uint32_t path, int64_t wire_bytes) const;

  // No event of one node has an effect on another before this much later: the least of delay plus
  // the occupancy of the smallest frame. INT64_MAX without links.
  int64_t Lookahead(int64_t smallest_frame) const;

  // What switches hash with (the finalizer of MurmurHash3, public domain): it decides routes, so it
  // must not change.
  static uint32_t EcmpHash(uint32_t value) {
    value ^= value >> 16;
    value *= 0x85ebca6bU;
    value ^= value >> 13;
    value *= 0xc2b2ae35U;
    return value ^ (value >> 16);
  }

  // A hash as a number below `count`.
  static uint32_t ScaleHash(uint32_t hash, uint32_t count) {
    return static_cast<uint32_t>((uint64_t{hash} * count) >> 32);
  }

 private:
  // How a direction that ends at a NIC is reached.
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
  // Number of hops between the ends, kUnreached if none.
  uint8_t Distance(uint32_t from, uint32_t to) const;
  bool IsDown(uint32_t link) const { return !down_.empty() && down_[link]; }

  uint32_t hosts_;
  int64_t cut_through_ = 0;  // bytes
  uint32_t leaves_ = 0;
  std::vector<FabricDirection> directions_;
  std::vector<bool> down_;                     // by link; empty: none
  std::shared_ptr<const FabricMap> unbroken_;  // as it was made; null until the first Reroute
  std::vector<std::vector<uint32_t>> ports_;
  std::vector<Access> access_;         // by link; meaningful for those that end at a NIC
  std::vector<uint32_t> leaf_switch_;  // by leaf
  std::vector<uint8_t> distance_;      // by leaf and leaf
  std::vector<uint32_t> routes_;       // by switch and leaf: number of a set
  std::vector<PortSet> sets_;          // the first is empty: no way
  std::vector<uint16_t> set_ports_;
  std::vector<uint32_t> seeds_;
  std::vector<std::string> switch_names_;
};

// What stands for the 5-tuple of the IP packets of a flow from a NIC to a NIC: the `path` above.
uint32_t PathHash(int32_t source, int source_nic, int32_t destination, int destination_nic,
                  uint32_t flow);

// The ends of a direction: "host 3/nic0", "leaf0".
std::string StartOfLink(const FabricMap& map, uint32_t link);
std::string EndOfLink(const FabricMap& map, uint32_t link);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_FABRIC_MAP_H_
