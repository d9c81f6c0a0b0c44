// What loads, stores and the host's own work queue at, beside the PCIe ports that they share with
// communication (ports.h): each GPU's own memory and NVLink-C2C, each socket's memory, the remote
// memory. A port serves in the order it is asked. One per host; not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_HOST_MEMORY_PORTS_H_
#define DRYDOCK_EXEC_ENGINE_HOST_MEMORY_PORTS_H_

#include <cstdint>
#include <vector>

#include "core/model/workload.h"
#include "exec-engine/host/ports.h"

namespace drydock {

class MemoryPorts {
 public:
  // `pcie` outlives the ports. `hosts`: how many there are, among whom a pool is divided evenly.
  MemoryPorts(const HostKind& kind, const GpuSpec& gpu, const HostMemory& memory, int hosts,
              const PortMap& pcie);

  // How long an access takes before its first byte.
  Time Latency(OpKind kind, MemoryTier tier) const;
  // The PCIe ports of an access; none where it goes another way.
  Way PcieWay(int gpu, OpKind kind, MemoryTier tier) const;
  // Bytes that `bytes` of data are on PCIe or NVLink-C2C, packet headers and pauses included.
  int64_t OnTheLink(int64_t bytes) const;
  // Takes the ports that are not PCIe's, as soon as each is free; when the last is through.
  Time Take(int gpu, OpKind kind, MemoryTier tier, Time from, int64_t bytes);

 private:
  struct Port {
    ByteCost cost;
    Time free;
  };
  static Time Take(Port* port, const ByteCost& cost, Time from, int64_t bytes);
  size_t RemoteOf(int gpu) const;

  const HostMemory& memory_;
  const PortMap& pcie_;
  std::vector<size_t> socket_, tray_;  // by GPU
  std::vector<Port> own_;              // by GPU: its own memory
  std::vector<Port> in_, out_;         // by GPU: NVLink-C2C; empty: PCIe
  std::vector<Port> sockets_;
  ByteCost work_;  // of a socket's memory, to the host's own work
  std::vector<Port> remote_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_HOST_MEMORY_PORTS_H_
