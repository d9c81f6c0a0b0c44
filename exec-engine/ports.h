// The ports of one host that transfers queue at: each GPU's scale-up link (NVLink) and PCIe link,
// each NIC's PCIe link, in both directions. A port serves in the order it is asked. Where the
// scale-up is PCIe, the two of a GPU are one, at the scale-up's rate.
#ifndef DRYDOCK_EXEC_ENGINE_PORTS_H_
#define DRYDOCK_EXEC_ENGINE_PORTS_H_

#include <algorithm>
#include <cstdint>
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

// Which port is which, and how fast. Immutable; one per kind of host.
class PortMap {
 public:
  PortMap(const HostKind& kind, const GpuSpec& gpu)
      : gpus_(kind.gpus), nics_(kind.nics.count), latency_(kind.scale_up.latency) {
    cost_.resize(static_cast<size_t>(4 * gpus_ + 2 * nics_));
    pcie_scale_up_ = kind.scale_up.kind == ScaleUpKind::kPcie;
    const auto reachable =
        static_cast<int64_t>(static_cast<double>(kind.scale_up.bandwidth.bits_per_second()) *
                             gpu.collectives.link_efficiency);
    const ByteCost scale_up(Bandwidth::BitsPerSecond(reachable));
    for (int g = 0; g < 2 * gpus_; ++g) {
      cost_[static_cast<size_t>(g)] = scale_up;
      cost_[static_cast<size_t>(2 * gpus_ + g)] = pcie_scale_up_ ? scale_up : ByteCost(gpu.pcie);
    }
    for (int n = 0; n < 2 * nics_; ++n) {
      cost_[static_cast<size_t>(4 * gpus_ + n)] = ByteCost(kind.nics.pcie_bandwidth());
    }
    if (nics_ > 0) nic_wire_ = ByteCost(kind.nics.rate);
  }

  size_t count() const { return cost_.size(); }
  PortId ScaleUpOut(int gpu) const { return pcie_scale_up_ ? PcieOut(gpu) : Id(gpu); }
  PortId ScaleUpIn(int gpu) const { return pcie_scale_up_ ? PcieIn(gpu) : Id(gpus_ + gpu); }
  PortId PcieOut(int gpu) const { return Id(2 * gpus_ + gpu); }
  PortId PcieIn(int gpu) const { return Id(3 * gpus_ + gpu); }
  PortId NicOut(int nic) const { return Id(4 * gpus_ + nic); }
  PortId NicIn(int nic) const { return Id(4 * gpus_ + nics_ + nic); }
  int gpus() const { return gpus_; }
  Time latency() const { return latency_; }  // GPU to GPU
  const ByteCost& cost(PortId port) const { return cost_[static_cast<size_t>(port)]; }
  const ByteCost& nic_wire() const { return nic_wire_; }  // of a NIC's cable

 private:
  static PortId Id(int index) { return static_cast<PortId>(index); }
  int gpus_, nics_;
  bool pcie_scale_up_ = false;
  Time latency_;
  std::vector<ByteCost> cost_;
  ByteCost nic_wire_;
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
  // From port to port, cut through: the second takes the bytes as they come.
  Time Cross(PortId out, PortId in, Time from, int64_t bytes) {
    Time begin, unused;
    const Time left = Take(out, from, bytes, &begin);
    return std::max(left, Take(in, begin, bytes, &unused));
  }
  const PortMap& map() const { return *map_; }

 private:
  const PortMap* map_;
  std::vector<Time> free_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_PORTS_H_
