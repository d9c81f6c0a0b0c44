// The links of a folded connection in the fluid network (replica_map.h). In the fabric, each of the
// flows that the connection represents has its own path, chosen by its own hash. All of these flows
// send at the rate of the slowest.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_FOLDING_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_FOLDING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "exec-engine/folding/replica_map.h"
#include "exec-engine/networks/fluid/fluid_paths.h"

namespace drydock {

// One of the flows that a folded connection represents.
struct ReplicaRoute {
  FluidRoute route;
  bool at_representative = false;  // arrives at a host that is replayed
};

// Returns the routes of queue pair number `queue_pair` of all connections that the folded
// connection represents, itself included. Empty if the connection carries no data. Flows without a
// path are left out.
std::vector<ReplicaRoute> ReplicaRoutes(const ReplicaMap& replicas, const FluidPaths& paths,
                                        uint32_t folded_connection, uint32_t queue_pair);

// Returns the links of all routes inside the fabric. Of the links of NICs, it has the one from
// which `own` leaves and those by which flows arrive at representatives: the NICs of replicas carry
// the same load as these.
FluidPaths::Uses ReplicaDataUses(const FluidPaths& paths, const FluidRoute& own,
                                 std::span<const ReplicaRoute> routes);
// The same for the acknowledgements. Of the links of NICs, it has the one by which the
// acknowledgements of `own` arrive and those by which representatives send acknowledgements.
FluidPaths::Uses ReplicaAckUses(const FluidPaths& paths, const FluidRoute& own,
                                std::span<const ReplicaRoute> routes);

// Returns the mean of FluidPaths::AckTime and FluidPaths::WindowBytes: along a ring, shorter and
// longer paths compensate each other.
Time MeanAckTime(const FluidPaths& paths, std::span<const ReplicaRoute> routes);
int64_t MeanWindowBytes(const FluidPaths& paths, std::span<const ReplicaRoute> routes);

// Returns the time from the NIC until the last byte arrives, on an idle path of this length.
Time IdleTime(const FluidSettings& set, const FabricPath& path, int64_t bytes);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_FOLDING_H_
