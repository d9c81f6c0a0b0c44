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

// Describes a kind of host. If it has no dumped XML, sockets have equal parts of the GPUs, GPUs and
// the NICs nearest to them are on PCIe switches or on root ports (Board), and NVLinks are as
// scale_up says. Errors: a bandwidth that is not a whole number of NVLinks; a host larger than NCCL
// can read; an XML that is wrong (see below) or has other numbers of GPUs and NICs than the host.
Result<NcclHost> DescribeHost(const HostKind& kind, const GpuSpec& gpu);

// Parses a dumped XML. Sets the bus ids, the NICs and the XML that NCCL is to read; the rest of
// NcclHost has its defaults. Reports every mistake with its place (docs/reference/cluster-file.md),
// because NCCL trusts its input. If `compute_capability` is above 0, a GPU of another compute
// capability is a mistake too.
Result<NcclHost> ParseTopologyXml(const std::string& xml, const std::string& file_name,
                                  int compute_capability = 0);

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_TOPOLOGY_XML_H_
