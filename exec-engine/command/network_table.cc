#include "exec-engine/command/network_table.h"

#include "core/model/timeline.h"
#include "exec-engine/networks/choices/networks_without_packets.h"
#include "ns3-backend/packet_network.h"

namespace drydock {

const std::vector<NetworkChoice>& NetworkChoices() {
  static const NetworkModel packet = {
      .name = kPacketNetwork, .make = MakePacketNetwork, .sends_packets = true};
  static const std::vector<NetworkChoice> choices = {
      {AnalyticalModel(),
       "messages queue at NICs and cables, no packets in switches; takes seconds"},
      {FluidModel(), "max-min fair flows over the packets' paths: congestion without queues"},
      {packet, "every packet in every switch, simulated by ns-3"}};
  return choices;
}

}  // namespace drydock
