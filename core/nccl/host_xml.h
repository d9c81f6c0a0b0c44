// The topology XML of a host that is known by its description alone. Internal to core/nccl.
#ifndef DRYDOCK_CORE_NCCL_HOST_XML_H_
#define DRYDOCK_CORE_NCCL_HOST_XML_H_

#include "core/nccl/topology_xml.h"

namespace drydock {

// xml, gpu_bus_ids and nics of one tray of the host; `links`: NVLinks of a GPU.
NcclHost WriteHostXml(const HostKind& kind, const GpuSpec& gpu, int links);

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_HOST_XML_H_
