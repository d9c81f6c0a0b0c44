#include "core/model/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/check.h"

namespace drydock {
namespace {

// Union-find over the fabric's nodes: NICs first (host by host), then switches.
class Components {
 public:
  explicit Components(size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  size_t Root(size_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  void Join(size_t a, size_t b) { parent_[Root(a)] = Root(b); }

 private:
  std::vector<size_t> parent_;
};

}  // namespace

Bandwidth Nics::pcie_bandwidth() const {
  // 128b/130b encoding; generation 3 has 8 GT/s per lane, and each generation doubles it.
  CHECK(pcie_generation >= 3 && pcie_generation <= 6);
  const int64_t lane = int64_t{8000000000} << (pcie_generation - 3);
  return Bandwidth::BitsPerSecond(lane / 130 * 128 * pcie_lanes);
}

const std::vector<std::string>& CpuNames() {
  static const std::vector<std::string> names = {
      "epyc", "xeon-broadwell", "xeon-skylake", "xeon-sapphire-rapids", "xeon-emerald-rapids",
      "grace"};
  return names;
}

Bandwidth NvLinkRate(int compute_capability) {
  const int gigabytes = compute_capability >= 100 ? 50 : compute_capability >= 70 ? 25 : 20;
  return Bandwidth::BitsPerSecond(gigabytes * int64_t{8'000'000'000});
}

std::vector<MeshLink> EvenMesh(int gpus, int links) {
  CHECK(gpus > 1 && links % (gpus - 1) == 0);
  std::vector<MeshLink> mesh;
  for (int a = 0; a < gpus; ++a) {
    for (int b = a + 1; b < gpus; ++b) mesh.push_back({a, b, links / (gpus - 1)});
  }
  return mesh;
}

std::vector<MeshLink> CubeMesh() {
  return {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2},
          {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
}

std::string HostKind::CpuName(int compute_capability) const {
  if (!board.cpu.empty()) return board.cpu;
  if (compute_capability >= 100) return "xeon-emerald-rapids";
  if (compute_capability >= 90) return "xeon-sapphire-rapids";
  return compute_capability >= 80 ? "epyc" : "xeon-broadwell";
}

int HostKind::gpus_per_switch() const {
  if (board.gpus_per_switch >= 0) return board.gpus_per_switch;
  if (scale_up.kind == ScaleUpKind::kPcie) return 0;
  return nics.pcie_generation >= 5 ? 1 : 2;
}

int HostKind::SlotOf(int gpu_index) const {
  const int per_slot = std::max(gpus_per_switch(), 1);
  const int slots_per_tray = (gpus_per_tray() + per_slot - 1) / per_slot;
  const int tray = gpu_index / gpus_per_tray();
  return tray * slots_per_tray + gpu_index % gpus_per_tray() / per_slot;
}

int HostKind::SocketOf(int gpu_index) const {
  const int per_slot = std::max(gpus_per_switch(), 1);
  const int slots_per_tray = (gpus_per_tray() + per_slot - 1) / per_slot;
  const int tray = gpu_index / gpus_per_tray();
  return tray * board.sockets + SlotOf(gpu_index) % slots_per_tray * board.sockets / slots_per_tray;
}

int Topology::gpu_count() const {
  int count = 0;
  for (int host = 0; host < host_count(); ++host) count += kind_of_host(host).gpus;
  return count;
}

Placement::Placement(const Topology& topology) {
  for (int host = 0; host < topology.host_count(); ++host) {
    for (int gpu = 0; gpu < topology.kind_of_host(host).gpus; ++gpu) slots.push_back({host, gpu});
  }
}

Status CheckConnected(const Topology& topology) {
  if (topology.host_count() <= 1) return OkStatus();
  std::vector<size_t> first_nic(static_cast<size_t>(topology.host_count()) + 1, 0);
  for (int host = 0; host < topology.host_count(); ++host) {
    const auto h = static_cast<size_t>(host);
    first_nic[h + 1] = first_nic[h] + static_cast<size_t>(topology.kind_of_host(host).nics.count);
  }
  const size_t nics = first_nic.back();
  Components components(nics + topology.fabric.switches.size());
  const auto node = [&](const LinkEnd& end) {
    return end.is_switch ? nics + static_cast<size_t>(end.index)
                         : first_nic[static_cast<size_t>(end.index)] + static_cast<size_t>(end.nic);
  };
  for (const FabricLink& link : topology.fabric.links) components.Join(node(link.a), node(link.b));
  // NICs of one host need no path over the fabric (rails), because the host connects them.
  for (size_t h = 0; h + 1 < first_nic.size(); ++h) {
    if (first_nic[h] == first_nic[h + 1]) {
      return Error(fmt::format("host {} has no NIC, so it cannot reach the others", h));
    }
  }
  for (int nic = 0; nic < topology.kind_of_host(0).nics.count; ++nic) {
    const size_t root = components.Root(static_cast<size_t>(nic));
    for (int host = 1; host < topology.host_count(); ++host) {
      const HostKind& kind = topology.kind_of_host(host);
      if (nic >= kind.nics.count || kind.gpus == 0) continue;
      const size_t other = first_nic[static_cast<size_t>(host)] + static_cast<size_t>(nic);
      if (components.Root(other) == root) continue;
      return Error(
          fmt::format("the fabric is disconnected: NIC {} of host 0 cannot reach NIC {} of host {}",
                      nic, nic, host));
    }
  }
  return OkStatus();
}

}  // namespace drydock
