// What the fluid network takes from the cluster file about frames, queue pairs and rerouting.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_SETTINGS_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/topology.h"

namespace drydock {

struct FluidSettings {
  int64_t mtu = 0, header = 0, ack = 0;  // bytes
  int64_t packets_per_ack = 1;
  bool split = false;       // packets spread over all equally short paths
  double window = 0;        // bandwidth-delay products
  bool window_set = false;  // the cluster file sets it
  int64_t cut_through = 0;  // bytes
  Time reroute_time;

  int64_t FrameBytes() const { return mtu + header; }
  // Returns the bytes on the wire of a message or a part of one.
  int64_t WireBytes(int64_t bytes) const { return bytes + (bytes + mtu - 1) / mtu * header; }
  // Returns the time for the bytes and their headers at this rate.
  Time TimeFor(int64_t bytes, int64_t bits_per_second) const {
    return Bandwidth::BitsPerSecond(bits_per_second).TimeFor(Bytes(WireBytes(bytes)));
  }
  // Returns the rate of acknowledgements over the rate of what they acknowledge, in units of
  // 1 / FluidSharing::kWhole.
  uint32_t AckShare() const;
};

// Returns an error if the value of an attribute is malformed or out of its range.
Result<FluidSettings> FluidSettingsOf(const Topology& topology);
// Returns the attributes of `transport` that take effect: "RdmaTransport::WindowBdp", ...
const std::vector<std::string>& FluidAttributes();

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_SETTINGS_H_
