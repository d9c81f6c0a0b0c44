// The fluid network: a message is a stream of bytes over the path that its packets would take in
// the packet network. Streams share links at max-min fair rates (fluid_sharing.h). A message that
// fits into its window bypasses fair sharing: it leaves at the rate of its NIC and waits for the
// backlogs on its path (fluid_fabric.h). On an idle network a message takes the time of the packet
// network, to the picosecond. Under load the model leaves out pauses, marks and losses
// (docs/explanation/fluid-network.md).
//
//   sender's NIC  ├ latency ┤├ bytes and headers / rate, message after message of a queue pair ┤
//   path                     ├ first and last frame stored, cables, switches ┤
//   receiver                                                        arrival ┤├ latency ┤ delivered
//   sender                                                          arrival ┤├ path back ┤ sent
//
// Single-threaded; keeps network.h's order of callbacks.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_NETWORK_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_NETWORK_H_

#include <memory>

#include "core/base/result.h"
#include "core/model/topology.h"
#include "core/network/network.h"
#include "exec-engine/folding/folded_network.h"
#include "exec-engine/folding/replica_map.h"

namespace drydock {

// The topology outlives the network. Returns an error if the options require several processes or a
// log of links, the topology has faults that flip bits, or an attribute is malformed. Run fails if
// an actor sends between NICs that no path connects, or a message waits for a cable that stays
// down.
//
// Counters: "messages", "message bytes", "queue pairs", "rate changes" (solutions in which queue
// pairs share a link), "rates" (in all solutions), "rates at once" (in the largest solution).
Result<std::unique_ptr<Network>> MakeFluidNetwork(const Topology& topology,
                                                  const NetworkOptions& options);
// The same for a folded replay; the map outlives the network.
Result<std::unique_ptr<FoldedNetwork>> MakeFoldedFluidNetwork(const Topology& topology,
                                                              const NetworkOptions& options,
                                                              const ReplicaMap& replicas);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_NETWORK_H_
