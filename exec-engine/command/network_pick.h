// --network auto: picks the network of a run by the number of its packets.
#ifndef DRYDOCK_EXEC_ENGINE_COMMAND_NETWORK_PICK_H_
#define DRYDOCK_EXEC_ENGINE_COMMAND_NETWORK_PICK_H_

#include <cstdint>
#include <string>

#include "core/model/flow_plan.h"
#include "core/model/workload.h"

namespace drydock {

// Up to this number of packets, the packet network carries the run; above it, the fluid network.
// This bounds the run time and is not a property of a cluster: the packet network simulates about a
// million packets per second and core (docs/explanation/fluid-network.md).
inline constexpr int64_t kMaxPackets = 20'000'000;

// Returns the number of data packets that all calls of the workload send from NIC to NIC.
int64_t EstimatePackets(const Workload& workload, const FlowPlan& plan);

struct NetworkPick {
  std::string network;  // kPacketNetwork or "fluid"
  int64_t packets = 0;  // EstimatePackets
  std::string why;      // "3400000 packets foreseen, at most 20000000"
};

// Faults that flip bits, and several processes, need the packet network for any number of packets.
NetworkPick PickNetwork(const Workload& workload, const FlowPlan& plan, int processes);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COMMAND_NETWORK_PICK_H_
