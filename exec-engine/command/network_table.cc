#include "exec-engine/network/network.h"
#include "exec-engine/networks/analytical_network.h"
#include "exec-engine/networks/fluid/fluid_network.h"
#include "ns3-backend/packet_network.h"

namespace drydock {

const std::vector<NetworkChoice>& NetworkChoices() {
  static const std::vector<NetworkChoice> choices = {
      {"analytical", "NICs queue, the fabric adds latency: no congestion, seconds",
       MakeAnalyticalNetwork, Folds::kExactly},
      {"fluid", "max-min fair flows over the packets' ways: congestion without queues",
       MakeFluidNetwork, Folds::kNearly, /*merges=*/true},
      {"packet", "every packet through every switch, by ns-3", MakePacketNetwork},
  };
  return choices;
}

}  // namespace drydock
