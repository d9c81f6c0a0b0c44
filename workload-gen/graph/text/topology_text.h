// A Topology as readable text: GPUs, kinds of hosts, switches, cables, transport, faults. One line
// per item, in stable order.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_TOPOLOGY_TEXT_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_TOPOLOGY_TEXT_H_

#include <string>

#include "core/model/topology.h"
#include "core/model/variation.h"

namespace drydock {

std::string TopologyText(const Topology& topology, const Variation& variation);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_TOPOLOGY_TEXT_H_
