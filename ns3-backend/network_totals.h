// The counters of a packet network, over all nodes of all processes.
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
  int64_t max_queued = 0, max_buffered = 0;  // maximum bytes at one port, in one switch
  uint64_t over = 0;                         // frames over the size of their buffer
  uint64_t marked = 0, cnps = 0, pauses = 0, dropped = 0, nacks = 0, repeated = 0, timeouts = 0;
  uint64_t lost = 0, unroutable = 0, trimmed = 0;
  uint64_t paused_ps = 0;  // sum over links of the time in which a class was paused

  // Adds the nodes that this process has run, until `end` (ps). Does not change `windows`.
  void Add(const ns3::rdma::FabricHelper& fabric, int64_t end);
  // Adds up all processes. Every process gets the same totals.
  void Combine(Processes* processes);
};

// Returns the counters in the order that packet_network.h states.
std::vector<std::pair<std::string, int64_t>> CountersOf(const NetworkTotals& totals,
                                                        const Transport& transport, bool faults,
                                                        bool loses);

}  // namespace drydock

#endif  // DRYDOCK_NS3_BACKEND_NETWORK_TOTALS_H_
