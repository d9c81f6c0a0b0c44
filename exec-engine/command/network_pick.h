// `--network auto`: which network carries a run, by how much there is to carry.
#ifndef DRYDOCK_EXEC_ENGINE_COMMAND_NETWORK_PICK_H_
#define DRYDOCK_EXEC_ENGINE_COMMAND_NETWORK_PICK_H_

#include <cstdint>
#include <string>

#include "core/model/flow_plan.h"
#include "core/model/workload.h"

namespace drydock {

// The rule: packets up to here, for the packet network simulates about a million of them a second
// and core (docs/explanation/fluid-network.md), and flows beyond.
inline constexpr int64_t kMostPackets = 20'000'000;

// How many packets of data all calls of the workload send from NIC to NIC.
int64_t ForeseePackets(const Workload& workload, const FlowPlan& plan);

struct NetworkPick {
  std::string network;  // "packet" or "fluid"
  int64_t packets = 0;  // foreseen
  std::string why;      // "3400000 packets foreseen, at most 20000000"
};

// Faults that flip bits and several processes need the packet network however much there is.
NetworkPick PickNetwork(const Workload& workload, const FlowPlan& plan, int processes);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COMMAND_NETWORK_PICK_H_
