// How a connection between two NICs carries its messages: over one or several queue pairs, as
// NCCL's settings say.
#ifndef DRYDOCK_CORE_MODEL_FABRIC_CONNECTION_SHAPE_H_
#define DRYDOCK_CORE_MODEL_FABRIC_CONNECTION_SHAPE_H_

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/model/topology.h"

namespace drydock {

// NCCL_IB_QPS_PER_CONNECTION, NCCL_IB_SPLIT_DATA_ON_QPS.
struct ConnectionShape {
  uint32_t queue_pairs = 1;
  bool split_data = false;  // each message goes over all queue pairs
};

// Returns an error for a value that NCCL does not accept.
Result<ConnectionShape> ConnectionShapeOf(const Topology& topology);

struct MessagePart {
  int64_t bytes = 0;
  uint32_t queue_pair = 0;  // of the connection
};

// Returns the parts of message `number` of a connection, as NCCL's net_ib divides it (2.29, p2p.cc,
// ncclIbMultiSend). Of n queue pairs, message i goes over queue pair i mod n. With split_data it
// goes in n parts over all queue pairs, beginning with queue pair i mod n. Each part has
// ceil(size / n) bytes, rounded up to 128. NCCL sends empty parts as well; here an empty part has
// one byte.
std::vector<MessagePart> SplitMessage(int64_t bytes, uint64_t number, const ConnectionShape& shape);

// Returns the name of queue pair `number` of a connection for routing; `flow` for the first.
uint32_t FlowOfQueuePair(uint32_t flow, uint32_t number);

// Returns how many packets a queue pair may have in flight: a number of bandwidth-delay products of
// its idle path, plus the packets that one acknowledgement covers. `round_trip` is the round-trip
// time of the path, `slowest` the time of a packet on its slowest link (ps).
int64_t PacketsInFlight(double products, int64_t round_trip, int64_t slowest,
                        int64_t packets_per_ack);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_CONNECTION_SHAPE_H_
