#include "exec-engine/command/network_table.h"

#include "exec-engine/networks/analytical_network.h"
#include "exec-engine/networks/fluid/fluid_network.h"
#include "ns3-backend/packet_network.h"

namespace drydock {

const std::vector<NetworkChoice>& NetworkChoices() {
  static const std::vector<NetworkChoice> choices = {
      {{.name = "analytical",
        .make = MakeAnalyticalNetwork,
        .make_folded = MakeFoldedAnalyticalNetwork,
        .folds_exactly = true},
       "NICs queue, the fabric adds latency: no congestion, seconds"},
      {{.name = "fluid",
        .make = MakeFluidNetwork,
        .make_folded = MakeFoldedFluidNetwork,
        .merges_loops = true},
       "max-min fair flows over the packets' paths: congestion without queues"},
      {{.name = "packet", .make = MakePacketNetwork}, "every packet through every switch, by ns-3"},
  };
  return choices;
}

}  // namespace drydock
