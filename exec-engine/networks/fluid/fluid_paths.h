// The links that the bytes of a queue pair cross in the fluid network, and the time that a message
// takes on them in addition to its bytes. Paths are those of the packet network (FabricMap). Times
// in ps.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_PATHS_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_PATHS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/fabric/fabric_map.h"
#include "core/network/flow_ends.h"
#include "exec-engine/networks/fluid/fluid_settings.h"
#include "exec-engine/networks/fluid/fluid_sharing.h"

namespace drydock {

// The choice of a path: its first and last link, and the hash by which switches choose the others.
struct FluidRoute {
  FabricMap::AccessPair ends;
  uint32_t hash = 0;
  // Returns the first and last link of the path of acknowledgements.
  FabricMap::AccessPair back() const { return {ends.second ^ 1, ends.first ^ 1}; }
};

class FluidPaths {
 public:
  // Both arguments outlive this.
  FluidPaths(const FabricMap& map, const FluidSettings& settings) : map_(map), set_(settings) {}

  // Returns the route of the queue pair that `flow.flow` names, or nothing if no path exists.
  std::optional<FluidRoute> RouteOf(const FlowEnds& flow) const;

  using Uses = std::vector<FluidSharing::Use>;
  // Return the links of data and of acknowledgements. Empty if faults have cut the path.
  Uses DataUses(const FluidRoute& route) const;
  Uses AckUses(const FluidRoute& route) const;

  // All functions below are for an idle network without faults.
  // Returns the rate of the slowest link of the path, bits per second.
  int64_t SlowestRate(const FluidRoute& route) const;
  // Returns the time from the departure of the last byte from the NIC to its arrival, for a part of
  // this size.
  int64_t Tail(const FluidRoute& route, int64_t bytes) const;
  // Returns the time from the arrival of the last byte to the arrival of its acknowledgement at the
  // sender.
  int64_t AckTime(const FluidRoute& route) const;
  // Returns the rate that the window allows, bits per second; FluidSharing::kNoLimit if it limits
  // no flow.
  int64_t WindowRate(const FluidRoute& route) const;
  // Returns the bytes on the wire that may be unacknowledged.
  int64_t WindowBytes(const FluidRoute& route) const;

 private:
  int64_t RoundTrip(const FluidRoute& route) const;

  const FabricMap& map_;
  const FluidSettings& set_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_PATHS_H_
