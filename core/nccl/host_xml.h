// Writes the topology XML of a host from its description. Internal to core/nccl.
#ifndef DRYDOCK_CORE_NCCL_HOST_XML_H_
#define DRYDOCK_CORE_NCCL_HOST_XML_H_

#include <string>
#include <vector>

#include "core/nccl/topology_xml.h"

namespace drydock {

// Sets xml, gpu_bus_ids and nics for one tray of the host. `links` is the number of NVLinks per
// GPU.
NcclHost WriteHostXml(const HostKind& kind, const GpuSpec& gpu, int links);

// NVLinks from a GPU to one neighbor: an NVSwitch, or another GPU.
struct HostNvLinks {
  std::string target;  // a bus id
  int count;
  const char* device_class;
};
// Returns the NVLinks of GPU `g`, as scale_up has them.
std::vector<HostNvLinks> NvLinksOf(const HostKind& kind, int links,
                                   const std::vector<std::string>& gpu_bus_ids, int g);

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_HOST_XML_H_
