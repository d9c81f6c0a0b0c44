#include "exec-engine/host/ports.h"

#include <limits>

namespace drydock {
namespace {

Bandwidth Share(Bandwidth rate, double efficiency) {
  return Bandwidth::BitsPerSecond(
      static_cast<int64_t>(static_cast<double>(rate.bits_per_second()) * efficiency));
}

}  // namespace

PortMap::PortMap(const HostKind& kind, const GpuSpec& gpu)
    : gpus_(kind.gpus), nics_(kind.nics.count), latency_(kind.scale_up.latency) {
  cost_.resize(static_cast<size_t>(4 * gpus_ + 2 * nics_));
  pcie_scale_up_ = kind.scale_up.kind == ScaleUpKind::kPcie;
  const double efficiency = gpu.collectives.link_efficiency;
  const ByteCost scale_up(Share(kind.scale_up.bandwidth, efficiency));
  for (int g = 0; g < 2 * gpus_; ++g) {
    cost_[static_cast<size_t>(g)] = scale_up;
    cost_[static_cast<size_t>(2 * gpus_ + g)] = pcie_scale_up_ ? scale_up : ByteCost(gpu.pcie);
  }
  for (int n = 0; n < 2 * nics_; ++n) {
    cost_[static_cast<size_t>(4 * gpus_ + n)] = ByteCost(kind.nics.pcie_bandwidth());
  }
  if (nics_ > 0) nic_wire_ = ByteCost(kind.nics.rate);
  nic_message_ = kind.nics.message;
  nic_latency_ = kind.nics.latency;
  first_pair_ = static_cast<int>(cost_.size());
  if (kind.scale_up.kind == ScaleUpKind::kNvLinkMesh) AddMesh(kind, efficiency);
  first_board_ = static_cast<int>(cost_.size());
  AddBoard(kind, gpu);
}

PortId PortMap::AddPort(Bandwidth rate) {
  CHECK(cost_.size() < static_cast<size_t>(std::numeric_limits<PortId>::max()));
  cost_.emplace_back(rate);
  return Id(static_cast<int>(cost_.size()) - 1);
}

void PortMap::AddMesh(const HostKind& kind, double efficiency) {
  pair_.assign(static_cast<size_t>(gpus_ * gpus_), kNoPort);
  // All links of a GPU together have its scale-up bandwidth.
  std::vector<int> links(static_cast<size_t>(gpus_), 0);
  for (const MeshLink& link : kind.scale_up.mesh) {
    links[static_cast<size_t>(link.a)] += link.count;
    links[static_cast<size_t>(link.b)] += link.count;
  }
  const int most = links.empty() ? 0 : *std::max_element(links.begin(), links.end());
  for (const MeshLink& link : kind.scale_up.mesh) {
    const Bandwidth rate =
        Bandwidth::BitsPerSecond(kind.scale_up.bandwidth.bits_per_second() / most * link.count);
    for (const auto& [from, to] : {std::pair(link.a, link.b), std::pair(link.b, link.a)}) {
      pair_[static_cast<size_t>(from * gpus_ + to)] = AddPort(Share(rate, efficiency));
      ends_.emplace_back(static_cast<uint16_t>(from), static_cast<uint16_t>(to));
    }
  }
}

void PortMap::AddBoard(const HostKind& kind, const GpuSpec& gpu) {
  for (int g = 0; g < gpus_; ++g) {
    slot_.push_back(kind.SlotOf(g));
    socket_.push_back(kind.SocketOf(g));
  }
  const auto slots = static_cast<size_t>(slot_.back() + 1);
  sockets_ = socket_.back() + 1;
  up_.assign(slots, kNoPort);
  down_.assign(slots, kNoPort);
  // A PCIe switch that serves one GPU is never slower than the GPU.
  for (size_t s = 0; s < slots && kind.gpus_per_switch() > 1; ++s) {
    const Bandwidth rate =
        pcie_scale_up_ ? Share(kind.scale_up.bandwidth, gpu.collectives.link_efficiency) : gpu.pcie;
    up_[s] = AddPort(rate);
    down_[s] = AddPort(rate);
  }
  if (kind.board.socket_link.bits_per_second() == 0) return;
  socket_link_.assign(static_cast<size_t>(sockets_ * sockets_), kNoPort);
  for (int from = 0; from < sockets_; ++from) {
    for (int to = 0; to < sockets_; ++to) {
      if (from == to || from / kind.board.sockets != to / kind.board.sockets) continue;
      socket_link_[static_cast<size_t>(from * sockets_ + to)] = AddPort(kind.board.socket_link);
    }
  }
}

PortPath PortMap::ScaleUpPath(int from, int to, int relay) const {
  if (pcie_scale_up_) return PciePath(from, to, false);
  if (pair_.empty()) {
    PortPath path;
    path.out = ScaleUpOut(from);
    path.in = ScaleUpIn(to);
    return path;
  }
  const auto pair = [this](int a, int b) { return pair_[static_cast<size_t>(a * gpus_ + b)]; };
  PortPath path;
  path.out = pair(from, relay >= 0 ? relay : to);
  if (relay >= 0) path.in = pair(relay, to);
  return path.out == kNoPort ? PciePath(from, to, false) : path;
}

PortPath PortMap::PciePath(int from, int to, bool memory) const {
  const auto f = static_cast<size_t>(from), t = static_cast<size_t>(to);
  PortPath path;
  path.out = PcieOut(from);
  path.in = PcieIn(to);
  if (slot_[f] == slot_[t] && !memory) return path;
  size_t next = 0;
  const auto through = [&](PortId port) {
    if (port != kNoPort) path.between[next++] = port;
  };
  through(up_[static_cast<size_t>(slot_[f])]);
  if (!socket_link_.empty() && socket_[f] != socket_[t]) {
    through(socket_link_[static_cast<size_t>(socket_[f] * sockets_ + socket_[t])]);
  }
  through(down_[static_cast<size_t>(slot_[t])]);
  return path;
}

PortPath PortMap::HostPath(int gpu, bool to_host) const {
  const auto slot = static_cast<size_t>(slot_[static_cast<size_t>(gpu)]);
  PortPath path;
  path.out = to_host ? PcieOut(gpu) : PcieIn(gpu);
  path.between[0] = to_host ? up_[slot] : down_[slot];
  return path;
}

void PortMap::AddClasses(const PortPath& path, std::vector<uint16_t>* classes) const {
  const auto add = [&](int gpu, int kind) {
    classes->push_back(static_cast<uint16_t>(2 * gpu + kind));
  };
  for (const PortId port : {path.out, path.in, path.between[0]}) {
    if (port == kNoPort) continue;
    if (IsPair(port)) {
      const auto& [from, to] = ends_[static_cast<size_t>(port - first_pair_)];
      add(from, 0);
      add(to, 0);
    } else if (port >= first_board_) {  // of a PCIe switch or a socket: all GPUs share it
      for (int gpu = 0; gpu < gpus_; ++gpu) add(gpu, 1);
    } else if (port < 4 * gpus_) {  // else: a port of a NIC
      add(port % gpus_, port >= 2 * gpus_ ? 1 : 0);
    }
  }
}

}  // namespace drydock
