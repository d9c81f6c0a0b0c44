// The part of cluster.topo that describes a kind of host, but for its GPU and XML, which are files
// of their own: how many GPUs, how they are joined, the board, the NICs.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_HOST_FILE_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_HOST_FILE_H_

#include "core/base/yaml.h"
#include "core/model/topology.h"

namespace drydock {

// Reads gpus, trays, scale_up, board and nics through `reader` into *kind; what is wrong goes to
// *diagnostics. `gpu` is the host's GPU, null if it could not be read: what depends on it is then
// left unchecked.
void ReadHost(YamlReader* reader, const GpuSpec* gpu, HostKind* kind, Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_HOST_FILE_H_
