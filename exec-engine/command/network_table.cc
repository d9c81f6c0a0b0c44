#include "exec-engine/command/network_table.h"

#include "core/model/timeline.h"
#include "exec-engine/networks/analytical_network.h"
#include "exec-engine/networks/fabric_queues.h"
#include "exec-engine/networks/fluid/fluid_network.h"
#include "exec-engine/networks/fluid/fluid_settings.h"
#include "ns3-backend/packet_network.h"

namespace drydock {

const std::vector<NetworkChoice>& NetworkChoices() {
  static const NetworkModel analytical = {.name = "analytical",
                                          .make = MakeAnalyticalNetwork,
                                          .make_folded = MakeFoldedAnalyticalNetwork,
                                          .folds_exactly = true,
                                          .merging = Merging::kWithinWindow,
                                          .reads_queue_pairs = FabricQueues::Applies};
  static const NetworkModel fluid = {.name = "fluid",
                                     .make = MakeFluidNetwork,
                                     .make_folded = MakeFoldedFluidNetwork,
                                     .merging = Merging::kLargest,
                                     .attributes = FluidAttributes};
  static const NetworkModel packet = {
      .name = kPacketNetwork, .make = MakePacketNetwork, .sends_packets = true};
  static const std::vector<NetworkChoice> choices = {
      {analytical, "messages queue at NICs and cables, no packets in switches; takes seconds"},
      {fluid, "max-min fair flows over the packets' paths: congestion without queues"},
      {packet, "every packet in every switch, simulated by ns-3"}};
  return choices;
}

}  // namespace drydock
