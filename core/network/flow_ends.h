// The identity of a flow: its two NICs and its queue pair.
#ifndef DRYDOCK_CORE_NETWORK_FLOW_ENDS_H_
#define DRYDOCK_CORE_NETWORK_FLOW_ENDS_H_

#include <cstdint>

#include "core/network/message.h"

namespace drydock {

struct FlowEnds {
  HostId source = 0, destination = 0;
  int16_t source_nic = 0, destination_nic = 0;
  uint32_t flow = 0;  // Message::flow
  friend bool operator==(const FlowEnds&, const FlowEnds&) = default;
};

inline FlowEnds FlowEndsOf(const Message& m) {
  return {m.source, m.destination, m.source_nic, m.destination_nic, m.flow};
}

}  // namespace drydock

#endif  // DRYDOCK_CORE_NETWORK_FLOW_ENDS_H_
