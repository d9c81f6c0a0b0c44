// Which links the bytes of a queue pair cross in the fluid network, and what its messages take on
// them beside their bytes. The ways are FabricMap's: those of the packet network. Times in ps.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_WAYS_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_WAYS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/model/fabric/fabric_map.h"
#include "core/model/fabric/idle_time.h"
#include "core/model/topology.h"
#include "exec-engine/network/flow_ends.h"
#include "exec-engine/networks/fluid/fluid_sharing.h"

namespace drydock {

// What the cluster file says of frames and queue pairs, as far as flows have it.
struct FluidSettings {
  int64_t mtu = 0, header = 0, ack = 0;  // bytes
  int64_t packets_per_ack = 1;
  bool split = false;            // packets take all equally short ways, not one of them
  std::optional<double> window;  // RdmaTransport::WindowBdp, where it is set
  int64_t cut_through = 0;       // bytes
  Time reroute_time;

  int64_t FrameBytes() const { return mtu + header; }
  // Of a message or a part of one.
  int64_t WireBytes(int64_t bytes) const { return bytes + (bytes + mtu - 1) / mtu * header; }
  // At so many bits per second.
  Time TimeFor(int64_t bytes, int64_t bits_per_second) const {
    return Bandwidth::BitsPerSecond(bits_per_second).TimeFor(Bytes(WireBytes(bytes)));
  }
  // What acknowledgements take of what they acknowledge, of FluidSharing::kWhole.
  uint32_t AckShare() const;
};

// An error if an attribute is no value.
Result<FluidSettings> FluidSettingsOf(const Topology& topology);
// The attributes of `transport` that they know: "RdmaTransport::WindowBdp", ...
const std::vector<std::string>& FluidAttributes();

struct FluidEnds {
  FabricMap::AccessPair ends;
  uint32_t path = 0;
  FabricMap::AccessPair back() const { return {ends.second ^ 1, ends.first ^ 1}; }
};

// How long it takes on a way without faults, beside its bytes at the rate of the slowest link.
class FluidWays {
 public:
  // Both outlive this.
  FluidWays(const FabricMap& map, const FluidSettings& settings) : map_(map), set_(settings) {}

  // Of a queue pair, which `flow.flow` names; nothing where no way leads.
  std::optional<FluidEnds> Between(const FlowEnds& flow) const;

  using Uses = std::vector<FluidSharing::Use>;
  // Empty where faults have cut it.
  Uses DataUses(const FluidEnds& ends) const;
  Uses AckUses(const FluidEnds& ends) const;

  // The slowest link of the way, bits per second.
  int64_t SlowestRate(const FluidEnds& ends) const;
  // From the last byte out of the NIC to the last byte in, alone.
  int64_t Tail(const FluidEnds& ends, int64_t bytes) const;
  // From the last byte in until the sender knows.
  int64_t AckTime(const FluidEnds& ends) const;
  // The most that the window lets through, bits per second; FluidSharing::kNoLimit if that is no
  // limit.
  int64_t WindowRate(const FluidEnds& ends) const;
  // What may be unacknowledged, bytes on the wire.
  int64_t WindowBytes(const FluidEnds& ends) const;

 private:
  int64_t RoundTrip(const FluidEnds& ends) const;

  const FabricMap& map_;
  const FluidSettings& set_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_WAYS_H_
