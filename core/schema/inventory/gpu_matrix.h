// What `nvidia-smi topo -m` prints of a host: how its GPUs and NICs are connected.
#ifndef DRYDOCK_CORE_SCHEMA_INVENTORY_GPU_MATRIX_H_
#define DRYDOCK_CORE_SCHEMA_INVENTORY_GPU_MATRIX_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/base/yaml.h"
#include "core/schema/inventory/cluster_text.h"

namespace drydock {

struct GpuMatrix {
  int gpus = 0;
  std::vector<std::vector<int>> links;  // [gpu][gpu]: NVLinks between the two, or into the switches
  std::vector<std::string> nics;        // as the legend or the header names them
  std::vector<std::vector<std::string>> paths;  // [gpu][nic]: PIX, PXB, PHB, NODE, SYS
  std::vector<std::string> cpus;                // by GPU: CPU affinity; "": not stated
};

Result<GpuMatrix> ParseGpuMatrix(const std::string& text, const std::string& path);

// Returns a cluster file of one such host. `base` is a cluster file, whose first kind of host
// states what the matrix does not; `link` is the rate of one NVLink of its GPU. NICs on a PCIe
// switch with a GPU count; others, such as those of storage, are left out, with a note.
Result<ClusterText> ClusterOfGpuMatrix(const GpuMatrix& matrix, const YamlNode& base,
                                       Bandwidth link, const std::string& name);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_INVENTORY_GPU_MATRIX_H_
