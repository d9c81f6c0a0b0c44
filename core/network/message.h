// One transfer from a NIC to a NIC. The replay gives messages to a network, which delivers them.
#ifndef DRYDOCK_CORE_NETWORK_MESSAGE_H_
#define DRYDOCK_CORE_NETWORK_MESSAGE_H_

#include <cstdint>

#include "core/base/units.h"

namespace drydock {

using HostId = int32_t;
using MessageId = uint64_t;  // chosen by the sending actor, unique per sending host

// `flow` names the queue pair. Messages of one flow between the same two NICs arrive in order, and
// take the same path where the fabric routes by flow.
struct Message {
  MessageId id = 0;
  HostId source = 0;
  HostId destination = 0;
  int16_t source_nic = 0;
  int16_t destination_nic = 0;
  uint32_t flow = 0;
  Bytes size;
  // For the receiving actor. The network delivers these two unchanged and does not interpret them.
  uint64_t tag = 0;
  uint32_t detail = 0;
  // Hints that save look-ups; 0 is "no hint". No hint changes a result. The source_place tells the
  // sending actor what the message belongs to, the destination_place the receiving actor. The route
  // is HostPort::LastRoute of an earlier message of the same flow.
  uint32_t source_place = 0, destination_place = 0;
  uint32_t route = 0;
  // Carries no data, such as a clear-to-send. If a flow has several queue pairs, a control message
  // takes the first one, as in NCCL.
  bool control = false;
  uint64_t cookie = 0;  // for the receiving actor, as `tag`
  Time sent;            // set by HostPort::Send
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_NETWORK_MESSAGE_H_
