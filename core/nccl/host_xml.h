// Writes the topology XML of a host from its description. Internal to core/nccl.
#ifndef DRYDOCK_CORE_NCCL_HOST_XML_H_
#define DRYDOCK_CORE_NCCL_HOST_XML_H_

#include "core/nccl/topology_xml.h"

namespace drydock {

// Sets xml, gpu_bus_ids and nics for one tray of the host. `links` is the number of NVLinks per
// GPU.
NcclHost WriteHostXml(const HostKind& kind, const GpuSpec& gpu, int links);

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_HOST_XML_H_
