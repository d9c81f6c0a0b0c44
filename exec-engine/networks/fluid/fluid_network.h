// The fluid network: a message is a stream of bytes over the way that the packet network's packets
// would take, at a rate that it shares with others as max-min fairness has it (fluid_sharing.h),
// or, if it fits into its window, at its NIC's and then behind what came to a link before it
// (fluid_fabric.h). What it takes alone is what the packet network says of it, to the picosecond;
// what it takes with others leaves out pauses, marks and losses
// (docs/explanation/fluid-network.md).
//
//   sender's NIC  ├ latency ┤├ bytes and headers / rate, message after message of a queue pair ┤
//   way                      ├ first and last frame stored, cables, switches ┤
//   receiver                                                        arrival ┤├ latency ┤ delivered
//   sender                                                          arrival ┤├ way back ┤ sent
//
// Single-threaded; keeps network.h's order of callbacks.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_NETWORK_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_NETWORK_H_

#include <memory>

#include "core/base/result.h"
#include "core/model/topology.h"
#include "exec-engine/folding/folded_network.h"
#include "exec-engine/folding/replica_map.h"
#include "exec-engine/network/network.h"

namespace drydock {

// `topology` outlives the network. Errors: several processes, a log of links, faults that flip
// bits, attributes that are no values. Run fails if an actor sends between NICs that cannot reach
// one another, or a message waits for a cable that never comes back.
//
// Counters: "messages", "message bytes", "queue pairs", "rate changes" (where queue pairs
// met), "rates" (found in them), "rates at once" (most of them in one).
Result<std::unique_ptr<Network>> MakeFluidNetwork(const Topology& topology,
                                                  const NetworkOptions& options);
// The same for a folded replay; the map outlives the network.
Result<std::unique_ptr<FoldedNetwork>> MakeFoldedFluidNetwork(const Topology& topology,
                                                              const NetworkOptions& options,
                                                              const ReplicaMap& replicas);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_NETWORK_H_
