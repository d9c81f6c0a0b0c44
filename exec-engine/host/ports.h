// The ports of one host at which transfers queue: each GPU's scale-up link (NVLink) and PCIe link,
// and each NIC's PCIe link, in both directions. A port serves requests in their order. If the
// scale-up is PCIe, a GPU has one port for both, at the rate of the scale-up. In a mesh, each pair
// of GPUs with NVLinks has a port in each direction, in place of the GPUs' scale-up ports. Data
// that crosses PCIe from GPU to GPU, or through host memory, also takes the uplinks of the PCIe
// switches and the link between the sockets if the board has them (HostKind::board).
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
#include "core/network/relative_state.h"

namespace drydock {

// A rate as picoseconds a byte in fixed point. For() is a multiplication and a shift, gives the
// same result on every machine, and is within 3e-7 of Bandwidth::TimeFor at 500 GB/s.
class ByteCost {
 public:
  ByteCost() = default;  // no time for any number of bytes
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
  uint64_t scaled() const { return scaled_; }  // equal numbers mean equal costs
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

// The ports that a transfer crosses inside a host, in order: `out`, `between`, `in`. kNoPort: none.
struct PortPath {
  PortId out = kNoPort, in = kNoPort;
  std::array<PortId, 3> between = {kNoPort, kNoPort, kNoPort};
};

// The ports of a host and their rates. Immutable; one per kind of host.
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

  // Returns the path from GPU to GPU over the scale-up. `relay` is a GPU through whose memory the
  // data passes, -1 if there is none. Two GPUs of a mesh that share no link use PCIe.
  PortPath ScaleUpPath(int from, int to, int relay) const;
  // Returns the path from GPU to GPU over PCIe. If `memory`, the path leads through the memory of
  // the host, so it leaves the PCIe switch.
  PortPath PciePath(int from, int to, bool memory) const;

  // Returns the path between a GPU and the memory of its socket over PCIe.
  PortPath HostPath(int gpu, bool to_host) const;

  // Adds the classes of the path's ports: 2g for the scale-up of GPU g, 2g + 1 for its PCIe. Calls
  // without a common class do not affect each other.
  void AddClasses(const PortPath& path, std::vector<uint16_t>* classes) const;

  int gpus() const { return gpus_; }
  Time latency() const { return latency_; }  // GPU to GPU
  const ByteCost& cost(PortId port) const { return cost_[static_cast<size_t>(port)]; }
  Time nic_message() const { return nic_message_; }       // of a NIC for each message
  Time nic_latency() const { return nic_latency_; }       // from memory to cable, or back
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

// The time until which each port of a host is taken.
class Ports {
 public:
  explicit Ports(const PortMap& map) : map_(&map), free_(map.count()) {}
  void Reset() { std::fill(free_.begin(), free_.end(), Time()); }
  void AppendState(RelativeState* out) const {
    for (const Time free : free_) out->AddFree(free);
  }

  // Takes the port for `bytes`, from `from` on or as soon as the port is free. Sets *begin to the
  // begin and returns the end.
  Time Take(PortId port, Time from, int64_t bytes, Time* begin) {
    Time& free = free_[static_cast<size_t>(port)];
    *begin = std::max(from, free);
    return free = *begin + map_->cost(port).For(bytes);
  }
  // Takes a NIC for `messages` messages that are sent as one.
  Time TakeNic(PortId port, Time from, int64_t bytes, int64_t messages, Time* begin) {
    Time& free = free_[static_cast<size_t>(port)];
    *begin = std::max(from, free);
    return free = *begin + map_->nic_message() * messages +
                  std::max(map_->cost(port).For(bytes), map_->nic_wire().For(bytes));
  }
  // Takes all ports of the path, cut through. Packets of slices that cross at the same time
  // interleave: each port serves its own requests and does not idle until another port is free.
  Time Cross(const PortPath& path, Time from, int64_t bytes) {
    Time begin;
    Time end = Take(path.out, from, bytes, &begin);
    for (const PortId port : path.between) {
      if (port == kNoPort) break;
      end = std::max(end, Take(port, from, bytes, &begin));
    }
    return path.in == kNoPort ? end : std::max(end, Take(path.in, from, bytes, &begin));
  }
  const PortMap& map() const { return *map_; }

 private:
  const PortMap* map_;
  std::vector<Time> free_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_HOST_PORTS_H_
