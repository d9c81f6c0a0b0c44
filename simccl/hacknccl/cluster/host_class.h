// Hosts of the same kind, as the caller of the library describes them.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_CLUSTER_HOST_CLASS_H_
#define DRYDOCK_SIMCCL_HACKNCCL_CLUSTER_HOST_CLASS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace drydock {

struct Nic {
  std::string name;
  std::string bus_id;
  int speed_mbps = 0;
};

// hacknccl_host_class with ownership.
struct HostClass {
  std::string topology_xml;              // of one tray
  std::vector<std::string> gpu_bus_ids;  // tray by tray, like the NICs
  std::vector<Nic> nics;
  int trays = 1;
  int compute_capability = 0;
  int sm_count = 0;
  int64_t memory_bytes = 0;
  bool multicast = false;
  bool collnet = false;
  uint64_t identity = 0;  // hash of the XML; the same in every world

  int gpus_per_tray() const { return static_cast<int>(gpu_bus_ids.size()) / trays; }
  int nics_per_tray() const { return static_cast<int>(nics.size()) / trays; }
  int TrayOf(int gpu) const { return gpu / gpus_per_tray(); }
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_CLUSTER_HOST_CLASS_H_
