// The analytical network: a message occupies the sender's NIC for its bytes and headers at line
// rate, travels for the latency of its path, occupies the receiver's NIC, and is acknowledged one
// path latency later. Messages contend for NICs, and for the cables between switches that can be
// full (fabric_queues.h). The packet network simulates what a real fabric adds.
//
//   sender's NIC  ├ latency ┤├ size / rate ┤
//   fabric                    ├ cables, switches, one packet stored per switch ┤
//   receiver's NIC                          ├ size / bottleneck, in order of arrival ┤├ latency ┤
//
// Single-threaded; keeps network.h's order of callbacks.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_ANALYTICAL_NETWORK_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_ANALYTICAL_NETWORK_H_

#include <memory>

#include "core/base/result.h"
#include "core/model/topology.h"
#include "core/network/network.h"
#include "exec-engine/folding/folded_network.h"
#include "exec-engine/folding/replica_map.h"

namespace drydock {

// The topology outlives the network. Returns an error if the options require several processes or a
// log, or the topology has faults. Run fails if an actor sends between NICs that no path connects.
Result<std::unique_ptr<Network>> MakeAnalyticalNetwork(const Topology& topology,
                                                       const NetworkOptions& options);
// The same for a folded replay; the map outlives the network.
Result<std::unique_ptr<FoldedNetwork>> MakeFoldedAnalyticalNetwork(const Topology& topology,
                                                                   const NetworkOptions& options,
                                                                   const ReplicaMap& replicas);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_ANALYTICAL_NETWORK_H_
