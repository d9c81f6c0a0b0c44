// What a GPU says of the NVLink domain it belongs to.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FABRIC_H_
#define DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FABRIC_H_

#include "nvmlwrap.h"
#include "simccl/hacknccl/session.h"
#include "topo.h"

namespace drydock {

// GPUs of a rack of several trays are registered with the fabric, all in one clique of the domain
// (the number of the host); those of an ordinary host know of none.
void FillFabricInfo(const HostClass& host, int domain, nvmlGpuFabricInfoV_t* info);

// The GUID of a NIC: unlike any other of the domain, for NCCL takes NICs of one GUID for one.
inline uint64_t NicGuid(int tray, int device) {
  return 0x1000u + (static_cast<uint64_t>(tray) << 8) + static_cast<uint64_t>(device);
}

// The index among its host's NICs of the one that NCCL calls `device` and `id` for a rank: NCCL
// counts those of each machine from 0, and the machines of a domain as it met them.
inline int NicOfHost(int rank, int64_t id, int device) {
  const Session& session = Current();
  const Layout::Kind& kind = session.layout->kind_of(rank);
  const HostClass& host = (*session.classes)[static_cast<size_t>(kind.neighbours.host_class)];
  const auto machine = static_cast<size_t>(NCCL_TOPO_ID_SYSTEM_ID(id));
  return kind.trays[machine] * host.nics_per_tray() + device;
}

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FABRIC_H_
