// The `transport:` section of a cluster file (docs/reference/cluster-file.md): the protocol of the
// NICs, congestion control, flow control and the attributes of the packet network.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_TRANSPORT_FILE_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_TRANSPORT_FILE_H_

#include "core/base/yaml.h"
#include "core/model/topology.h"

namespace drydock {

// Fills *transport. A key that is absent keeps its value.
void ReadTransport(const YamlNode& node, Transport* transport, Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_TRANSPORT_FILE_H_
