// Whether a topology from an artefact keeps what the readers of cluster files promise to all other
// code: indices, ranges and order. The readers report mistakes with their places; here the text is
// not at hand, and only a damaged or altered file fails.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_TOPOLOGY_CHECK_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_TOPOLOGY_CHECK_H_

#include "core/base/result.h"
#include "core/model/topology.h"
#include "core/model/variation.h"

namespace drydock {

// The error says which part fails: "its faults contradict the rules of cluster files".
Status CheckTopology(const Topology& topology, const Variation& variation);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_TOPOLOGY_CHECK_H_
