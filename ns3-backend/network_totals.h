// What a packet network has counted, from all nodes of all processes.
#ifndef DRYDOCK_NS3_BACKEND_NETWORK_TOTALS_H_
#define DRYDOCK_NS3_BACKEND_NETWORK_TOTALS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/processes.h"
#include "core/model/topology.h"
#include "ns3-backend/helper/fabric-helper.h"

namespace drydock {

struct NetworkTotals {
  uint64_t messages = 0, packets = 0, acks = 0, hops = 0, pairs = 0, events = 0, windows = 0;
  int64_t most_queued = 0, most_buffered = 0;  // bytes at one port, in one switch
  uint64_t over = 0;                           // frames beyond the buffer
  uint64_t marked = 0, cnps = 0, pauses = 0, dropped = 0, nacks = 0, repeated = 0, timeouts = 0;
  uint64_t lost = 0, unroutable = 0, trimmed = 0;
  uint64_t paused_ps = 0;  // all directions of all cables, each with some class of it stopped

  // Of the nodes that this process has run, until `end` (ps); `windows` stays as it is.
  void Add(const ns3::rdma::FabricHelper& fabric, int64_t end);
  // Of all processes, in each of them.
  void Combine(Processes* processes);
};

// As packet_network.h promises them.
std::vector<std::pair<std::string, int64_t>> CountersOf(const NetworkTotals& totals,
                                                        const Transport& transport, bool faults,
                                                        bool loses);

}  // namespace drydock

#endif  // DRYDOCK_NS3_BACKEND_NETWORK_TOTALS_H_
