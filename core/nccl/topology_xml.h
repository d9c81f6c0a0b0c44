// Describes a kind of host to NCCL: topology XML (the format of NCCL_TOPO_FILE), bus ids and NICs.
// The source is the cluster file's description, or an XML that a real machine dumped.
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
  std::string xml;                       // of one tray
  std::vector<std::string> gpu_bus_ids;  // by GPU index; the same for every tray
  std::vector<Nic> nics;                 // by NIC index; the same for every tray
  int trays = 1;                         // HostKind::trays
  int compute_capability = 0;
  int sm_count = 0;
  int64_t memory_bytes = 0;
  bool multicast = false;
  bool collnet = false;  // its NICs are on a fabric that reduces; not set by the functions below
};

// From the description: GPUs in equal parts on the sockets, a PCIe switch a few of them with the
// NICs nearest to them, or all on root ports (Board); NVLinks as scale_up says. Errors: a link
// count that does not come out whole, a host larger than NCCL can read; an XML that is wrong (see
// below) or has other numbers of GPUs and NICs than the host.
Result<NcclHost> DescribeHost(const HostKind& kind, const GpuSpec& gpu);

// A dumped XML: bus ids, NICs, and the XML as NCCL is to read it; the rest of NcclHost is left
// alone. Everything wrong with it is an error with its place (docs/reference/cluster-file.md): NCCL
// trusts its input. With a `compute_capability`, GPUs of another are wrong too.
Result<NcclHost> ParseTopologyXml(const std::string& xml, const std::string& file_name,
                                  int compute_capability = 0);

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_TOPOLOGY_XML_H_
