// Completes a topology XML that states only where the devices are. Clouds ship such files (Azure's
// ndv4-topo.xml): NCCL asks the machine for the rest, and here the cluster file knows it. Internal
// to core/nccl.
#ifndef DRYDOCK_CORE_NCCL_TOPOLOGY_COMPLETION_H_
#define DRYDOCK_CORE_NCCL_TOPOLOGY_COMPLETION_H_

#include "core/base/result.h"
#include "core/model/gpu.h"
#include "core/model/topology.h"
#include "core/nccl/xml_reader.h"

namespace drydock {

// If the file has no <gpu>, gives every <pci> of a GPU's class the GPU of the kind of host, with
// its NVLinks (`links` for each GPU, or why that number is unknown); if it has no <net>, gives
// every <pci> of a NIC's class the NIC of the kind. Numbers ("dev") follow the bus ids, as CUDA and
// NCCL number equal devices. Leaves a complete file as it is. Errors: other numbers of devices than
// the host has. REQUIRES: CheckElements is OK.
Status CompleteTopology(const HostKind& kind, const GpuSpec& gpu, const Result<int>& links,
                        XmlElement* system);

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_TOPOLOGY_COMPLETION_H_
