// The ports of one host that transfers queue at: each GPU's scale-up link (NVLink) and PCIe link,
// each NIC's PCIe link, in both directions. A port serves in the order it is asked. Where the
// scale-up is PCIe, the two of a GPU are one, at the scale-up's rate. In a mesh every pair of GPUs
// with NVLinks has a port each way instead of the GPUs' scale-up ports. What crosses PCIe from GPU
// to GPU, or through host memory, also takes the uplinks of their switches and the link between
// their sockets, where the board has them (HostKind::board).
#ifndef DRYDOCK_EXEC_ENGINE_HOST_PORTS_H_
#define DRYDOCK_EXEC_ENGINE_HOST_PORTS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/units.h"
#include "core/model/topology.h"

namespace drydock {

// A rate as picoseconds per byte in fixed point: a multiplication and a shift on the hot path, the
// same result on every machine, within 3e-7 of Bandwidth::TimeFor at 500 GB/s.
class ByteCost {
 public:
  ByteCost() = default;  // free of charge
  explicit ByteCost(Bandwidth rate) {
    CHECK(rate.bits_per_second() > 0);
    const unsigned __int128 scaled = static_cast<unsigned __int128>(8000000000000) << kShift;
    scaled_ = static_cast<uint64_t>(scaled / static_cast<uint64_t>(rate.bits_per_second()));
  }
  ByteCost Times(double factor) const {
    ByteCost out;
    out.scaled_ = static_cast<uint64_t>(static_cast<double>(scaled_) * factor);
    return out;
  }
  friend bool operator<(const ByteCost& a, const ByteCost& b) { return a.scaled_ < b.scaled_; }
  Time For(int64_t bytes) const {
    const auto product = static_cast<unsigned __int128>(scaled_) * static_cast<uint64_t>(bytes);
    return Time::Ps(static_cast<int64_t>(product >> kShift));
  }

 private:
  static constexpr int kShift = 24;
  uint64_t scaled_ = 0;
};

using PortId = int16_t;
inline constexpr PortId kNoPort = -1;

// The ports between two GPUs, in the order in which a message comes to them; kNoPort: none.
struct Way {
  PortId out = kNoPort, in = kNoPort;
  std::array<PortId, 3> between = {kNoPort, kNoPort, kNoPort};
};

// Which port is which, and how fast. Immutable; one per kind of host.
class PortMap {
 public:
  PortMap(const HostKind& kind, const GpuSpec& gpu);

  size_t count() const { return cost_.size(); }
  PortId ScaleUpOut(int gpu) const { return pcie_scale_up_ ? PcieOut(gpu) : Id(gpu); }
  PortId ScaleUpIn(int gpu) const { return pcie_scale_up_ ? PcieIn(gpu) : Id(gpus_ + gpu); }
  PortId PcieOut(int gpu) const { return Id(2 * gpus_ + gpu); }
  PortId PcieIn(int gpu) const { return Id(3 * gpus_ + gpu); }
  PortId NicOut(int nic) const { return Id(4 * gpus_ + nic); }
  PortId NicIn(int nic) const { return Id(4 * gpus_ + nics_ + nic); }

  // From GPU to GPU over the scale-up; `relay`: through this GPU's memory, -1: straight. Two GPUs
  // of a mesh without links go over PCIe.
  Way ScaleUpWay(int from, int to, int relay) const;
  // Over PCIe, through the memory of the host or not (`memory`: then never inside a switch).
  Way PcieWay(int from, int to, bool memory) const;

  // Between a GPU and its socket's memory over PCIe.
  Way HostWay(int gpu, bool to_host) const;

  // The classes of ports that a way shares with other calls: 2g = GPU g's scale-up, 2g + 1 = its
  // PCIe.
  void AddClasses(const Way& way, std::vector<uint16_t>* classes) const;

  int gpus() const { return gpus_; }
  Time latency() const { return latency_; }  // GPU to GPU
  const ByteCost& cost(PortId port) const { return cost_[static_cast<size_t>(port)]; }
  Time nic_message() const { return nic_message_; }       // a NIC takes up one message
  Time nic_latency() const { return nic_latency_; }       // memory to cable, or cable to memory
  const ByteCost& nic_wire() const { return nic_wire_; }  // of a NIC's cable

 private:
  static PortId Id(int index) { return static_cast<PortId>(index); }
  PortId AddPort(Bandwidth rate);
  void AddMesh(const HostKind& kind, double efficiency);
  void AddBoard(const HostKind& kind, const GpuSpec& gpu);
  bool IsPair(PortId port) const { return port >= first_pair_ && port < first_board_; }

  int gpus_, nics_;
  bool pcie_scale_up_ = false;
  Time latency_;
  std::vector<ByteCost> cost_;
  Time nic_message_, nic_latency_;
  ByteCost nic_wire_;
  int first_pair_ = 0, first_board_ = 0;             // first port of the mesh, of the board
  std::vector<PortId> pair_;                         // [from * gpus + to]; empty: no mesh
  std::vector<std::pair<uint16_t, uint16_t>> ends_;  // of each pair port
  std::vector<int> slot_, socket_;                   // by GPU
  std::vector<PortId> up_, down_;                    // of each slot; kNoPort: a root port
  int sockets_ = 1;
  std::vector<PortId> socket_link_;  // [from * sockets + to]; empty: no limit
};

// Until when each port of a host is taken.
class Ports {
 public:
  explicit Ports(const PortMap& map) : map_(&map), free_(map.count()) {}
  void Reset() { std::fill(free_.begin(), free_.end(), Time()); }

  // Takes the port for `bytes` from `from` on, as soon as it is free; when it begins is written to
  // *begin, the end returned.
  Time Take(PortId port, Time from, int64_t bytes, Time* begin) {
    Time& free = free_[static_cast<size_t>(port)];
    *begin = std::max(from, free);
    return free = *begin + map_->cost(port).For(bytes);
  }
  // The NIC takes up a message and sends it; so many messages, as one.
  Time TakeNic(PortId port, Time from, int64_t bytes, int64_t messages, Time* begin) {
    Time& free = free_[static_cast<size_t>(port)];
    *begin = std::max(from, free);
    return free = *begin + map_->nic_message() * messages +
                  std::max(map_->cost(port).For(bytes), map_->nic_wire().For(bytes));
  }
  // From port to port, cut through. Packets of slices that cross at once interleave: each port
  // serves what it was asked for since `from`, and none waits idle for another's turn.
  Time Cross(const Way& way, Time from, int64_t bytes) {
    Time begin;
    Time end = Take(way.out, from, bytes, &begin);
    for (const PortId port : way.between) {
      if (port == kNoPort) break;
      end = std::max(end, Take(port, from, bytes, &begin));
    }
    return way.in == kNoPort ? end : std::max(end, Take(way.in, from, bytes, &begin));
  }
  const PortMap& map() const { return *map_; }

 private:
  const PortMap* map_;
  std::vector<Time> free_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_HOST_PORTS_H_
