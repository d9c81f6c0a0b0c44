// How a connection between two NICs carries its messages: over one queue pair or several, as NCCL's
// settings have it.
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
  bool split_data = false;  // each message goes over all of them
};

// An error if a value is none that NCCL can work with.
Result<ConnectionShape> ConnectionShapeOf(const Topology& topology);

struct MessagePart {
  int64_t bytes = 0;
  uint32_t queue_pair = 0;  // of the connection
};

// The parts of message `number` of a connection, as NCCL's net_ib cuts it (2.29, p2p.cc,
// ncclIbMultiSend): message i goes over queue pair i modulo their number; or, where data are split,
// in parts over all of them, beginning with that one, each of ceil(size / number) bytes rounded up
// to 128. A part for which nothing is left is sent nevertheless, here as one byte.
std::vector<MessagePart> SplitMessage(int64_t bytes, uint64_t number, const ConnectionShape& shape);

// What names queue pair `number` of a connection to the routers; that of the first is `flow`.
uint32_t FlowOfQueuePair(uint32_t flow, uint32_t number);

// RdmaTransport::WindowBdp, if nothing is set (docs/explanation/packet-network.md).
constexpr double kWindowBdp = 2;

// How many packets a queue pair may have unacknowledged: so many bandwidth-delay products of its
// own idle way, whose round trip takes `round_trip` and whose slowest link takes `slowest` a packet
// (ps), and those that one acknowledgement covers.
int64_t PacketsInFlight(double products, int64_t round_trip, int64_t slowest,
                        int64_t packets_per_ack);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_CONNECTION_SHAPE_H_
