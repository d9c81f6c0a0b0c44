#include "exec-engine/host/memory_ports.h"

#include <algorithm>
#include <cmath>

namespace drydock {

MemoryPorts::MemoryPorts(const HostKind& kind, const GpuSpec& gpu, const HostMemory& memory,
                         int hosts, const PortMap& pcie)
    : memory_(memory), pcie_(pcie) {
  for (int g = 0; g < kind.gpus; ++g) {
    socket_.push_back(static_cast<size_t>(kind.SocketOf(g)));
    tray_.push_back(static_cast<size_t>(g / kind.gpus_per_tray()));
  }
  const auto gpus = static_cast<size_t>(kind.gpus);
  own_.assign(gpus, {ByteCost(gpu.memory_bandwidth), Time()});
  if (kind.board.c2c > Bandwidth()) {
    in_.assign(gpus, {ByteCost(kind.board.c2c), Time()});
    out_ = in_;
  }
  sockets_.assign(socket_.back() + 1, {ByteCost(memory.bandwidth), Time()});
  work_ = ByteCost(Bandwidth::FromBytesPerSecond(memory.bandwidth.bytes_per_second() *
                                                 memory.optimizer_efficiency));
  const RemoteMemory& remote = memory.remote;
  if (remote.sharing == RemoteSharing::kNone) return;
  const bool pool = remote.sharing == RemoteSharing::kPool;
  const Bandwidth rate = Bandwidth::BitsPerSecond(
      std::max<int64_t>(1, remote.bandwidth.bits_per_second() / (pool ? hosts : 1)));
  const size_t count = remote.sharing == RemoteSharing::kPerGpu ? gpus
                       : pool                                   ? 1
                                                                : tray_.back() + 1;
  remote_.assign(count, {ByteCost(rate), Time()});
}

Time MemoryPorts::Latency(OpKind kind, MemoryTier tier) const {
  if (tier == MemoryTier::kRemote) return memory_.remote.latency;
  const bool copies = tier == MemoryTier::kHost && kind != OpKind::kHostWork;
  return copies ? memory_.latency : Time();
}

PortPath MemoryPorts::PciePath(int gpu, OpKind kind, MemoryTier tier) const {
  if (tier != MemoryTier::kHost || kind == OpKind::kHostWork || !in_.empty()) return {};
  return pcie_.HostPath(gpu, kind == OpKind::kStore);
}

int64_t MemoryPorts::LinkBytes(int64_t bytes) const {
  return static_cast<int64_t>(std::ceil(static_cast<double>(bytes) / memory_.copy_efficiency));
}

Time MemoryPorts::Take(Port* port, const ByteCost& cost, Time from, int64_t bytes) {
  port->free = std::max(from, port->free) + cost.For(bytes);
  return port->free;
}

size_t MemoryPorts::RemoteOf(int gpu) const {
  switch (memory_.remote.sharing) {
    case RemoteSharing::kPerGpu:
      return static_cast<size_t>(gpu);
    case RemoteSharing::kPerHost:
      return tray_[static_cast<size_t>(gpu)];
    case RemoteSharing::kPool:
    case RemoteSharing::kNone:
      break;
  }
  return 0;
}

Time MemoryPorts::Take(int gpu, OpKind kind, MemoryTier tier, Time from, int64_t bytes) {
  const auto g = static_cast<size_t>(gpu);
  if (tier == MemoryTier::kGpu) return Take(&own_[g], own_[g].cost, from, bytes);
  if (tier == MemoryTier::kRemote) {
    CHECK_NOTE(!remote_.empty(), "an op uses remote memory, but the host has none");
    Port& port = remote_[RemoteOf(gpu)];
    return Take(&port, port.cost, from, bytes);
  }
  Port& socket = sockets_[socket_[g]];
  if (kind == OpKind::kHostWork) return Take(&socket, work_, from, bytes);
  const Time end = Take(&socket, socket.cost, from, bytes);
  if (in_.empty()) return end;
  Port& link = (kind == OpKind::kLoad ? in_ : out_)[g];
  return std::max(end, Take(&link, link.cost, from, LinkBytes(bytes)));
}

}  // namespace drydock
