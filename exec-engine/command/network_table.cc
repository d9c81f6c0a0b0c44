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
       "messages queue at NICs only: no congestion in the fabric; takes seconds"},
      {{.name = "fluid",
        .make = MakeFluidNetwork,
        .make_folded = MakeFoldedFluidNetwork,
        .merges_loops = true},
       "max-min fair flows over the packets' paths: congestion without queues"},
      {{.name = "packet", .make = MakePacketNetwork},
       "every packet in every switch, simulated by ns-3"},
  };
  return choices;
}

}  // namespace drydock
