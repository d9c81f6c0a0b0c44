// The part of cluster.topo that describes a kind of host: GPUs and their limits, scale-up, board
// and NICs. Its GPU and its XML are separate files.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_HOST_FILE_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_HOST_FILE_H_

#include "core/base/yaml.h"
#include "core/model/topology.h"
#include "core/schema/cluster/nic_file.h"

namespace drydock {

// Reads gpus, trays, limits of GPUs, scale_up, board and nics through `reader` into *kind; reports
// mistakes to *diagnostics. `gpu`: the host's GPU, or null if it could not be read; the checks that
// need it are then skipped. `defaults`: of NICs.
void ReadHost(YamlReader* reader, const GpuSpec* gpu, const NicDefaults& defaults, HostKind* kind,
              Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_HOST_FILE_H_
