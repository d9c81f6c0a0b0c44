// A kind of host as NCCL wants to hear of it: topology XML (the format of NCCL_TOPO_FILE), bus ids,
// NICs. From the cluster file's description, or from an XML that a real machine dumped.
#ifndef DRYDOCK_CORE_NCCL_TOPOLOGY_XML_H_
#define DRYDOCK_CORE_NCCL_TOPOLOGY_XML_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/gpu.h"
#include "core/model/topology.h"

namespace drydock {

struct NcclHost {
  struct Nic {
    std::string name;
    std::string bus_id;
    int speed_mbps = 0;
  };
  std::string xml;
  std::vector<std::string> gpu_bus_ids;  // by GPU index
  std::vector<Nic> nics;                 // by NIC index
  int compute_capability = 0;
  int sm_count = 0;
  int64_t memory_bytes = 0;
  bool multicast = false;
};

// Two sockets share the GPUs. With NVLink, a PCIe switch takes one GPU from generation 5 on, two
// before (as in the DGX and HGX machines), and the NICs nearest to them; without, GPUs and NICs
// hang from the root complex. Errors: a link count that does not come out whole, an XML that lacks
// GPUs or NICs the host is said to have.
Result<NcclHost> DescribeHost(const HostKind& kind, const GpuSpec& gpu);

// Bus ids and NICs out of a dumped XML; the rest of NcclHost is left alone.
Result<NcclHost> ParseTopologyXml(const std::string& xml);

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_TOPOLOGY_XML_H_
