// What a queue pair of the fluid network takes that stands for others (replica_folding.h). In the
// fabric each of those has its own way, by its own hash, and all go at the rate of the slowest.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_FOLDING_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_FOLDING_H_

#include <cstdint>
#include <span>
#include <vector>

#include "exec-engine/folding/replica_map.h"
#include "exec-engine/networks/fluid/fluid_ways.h"

namespace drydock {

struct AlikeWay {
  FluidEnds ends;
  bool arrives = false;  // at a host that is replayed
};

// Of all the connections that `wire`'s stands for, its own among them: their queue pairs of this
// number. Empty of what brings no data. Ways that faults have cut are left out.
std::vector<AlikeWay> AlikeWays(const ReplicaMap& replicas, const FluidWays& ways,
                                uint32_t folded_connection, uint32_t queue_pair);

// The links of all of them in the fabric. At NICs, the one from which `own` leaves, and those where
// what comes to a host that is replayed arrives: the others fare as these do.
FluidWays::Uses UsesOfAll(const FluidWays& ways, const FluidEnds& own,
                          std::span<const AlikeWay> alike);
// The same of their acknowledgements: where `own`'s come in, and where those go out that answer
// what comes to a host that is replayed.
FluidWays::Uses AckUsesOfAll(const FluidWays& ways, const FluidEnds& own,
                             std::span<const AlikeWay> alike);

// FluidWays::AckTime in the mean: who is nearer and who is farther make up for each other on a
// ring.
Time MeanAckTime(const FluidWays& ways, std::span<const AlikeWay> alike);
// So is FluidWays::WindowBytes.
int64_t MeanWindowBytes(const FluidWays& ways, std::span<const AlikeWay> alike);

// From the NIC until the last byte is in, alone on a way that is known by its length only.
Time TimeAlone(const FluidSettings& set, const FabricPath& path, int64_t bytes);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_FOLDING_H_
