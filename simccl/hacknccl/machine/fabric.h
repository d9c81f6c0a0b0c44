// The NVLink domain of a GPU, and the NICs of its machines.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FABRIC_H_
#define DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FABRIC_H_

#include "nvmlwrap.h"
#include "simccl/hacknccl/session/virtual_rank.h"
#include "topo.h"

namespace drydock {

// Fills in what a GPU reports of its fabric. The GPUs of a rack of several trays form one clique of
// the domain, which is the number of the host. GPUs of an ordinary host report no fabric.
void FillFabricInfo(const HostClass& host, int domain, nvmlGpuFabricInfoV_t* info);

// Returns the GUID of a NIC. It is unique in the domain: NCCL merges NICs of the same GUID.
inline uint64_t NicGuid(int tray, int device) {
  return 0x1000u + (static_cast<uint64_t>(tray) << 8) + static_cast<uint64_t>(device);
}

// Returns the index among its host's NICs of the NIC that NCCL calls `device` and `id` for a rank.
// NCCL counts the NICs of each machine from 0, and the machines of a domain in the order in which
// it meets them.
inline int NicOfHost(int rank, int64_t id, int device) {
  const VirtualRank& self = CurrentRank();
  const Layout::Kind& kind = self.layout->kind_of(rank);
  const HostClass& host = (*self.classes)[static_cast<size_t>(kind.neighbors.host_class)];
  const auto machine = static_cast<size_t>(NCCL_TOPO_ID_SYSTEM_ID(id));
  return kind.trays[machine] * host.nics_per_tray() + device;
}

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FABRIC_H_
