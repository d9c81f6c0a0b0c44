// The ports at which loads, stores and host work queue, in addition to the PCIe ports that they
// share with communication (ports.h): each GPU's own memory and NVLink-C2C, each socket's memory,
// the remote memory. A port serves requests in their order. One per host; not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_HOST_MEMORY_PORTS_H_
#define DRYDOCK_EXEC_ENGINE_HOST_MEMORY_PORTS_H_

#include <cstdint>
#include <vector>

#include "core/model/workload.h"
#include "exec-engine/host/ports.h"

namespace drydock {

class MemoryPorts {
 public:
  // `memory` and `pcie` outlive this. `hosts` is the number of hosts that share a pool evenly.
  MemoryPorts(const HostKind& kind, const GpuSpec& gpu, const HostMemory& memory, int hosts,
              const PortMap& pcie);

  // Returns the time before the first byte of an access.
  Time Latency(OpKind kind, MemoryTier tier) const;
  // Returns the PCIe ports of an access; no ports if the access does not cross PCIe.
  PortPath PciePath(int gpu, OpKind kind, MemoryTier tier) const;
  // Returns the bytes that `bytes` of data occupy on PCIe or NVLink-C2C, packet headers and pauses
  // included.
  int64_t LinkBytes(int64_t bytes) const;
  // Takes all ports but those of PCIe, each as soon as it is free. Returns the latest end.
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
  ByteCost work_;  // of a socket's memory, for host work
  std::vector<Port> remote_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_HOST_MEMORY_PORTS_H_
