// Flows that send without pause, and the bytes that each flow delivered.
#ifndef DRYDOCK_TESTS_VALIDATION_STEADY_FLOWS_H_
#define DRYDOCK_TESTS_VALIDATION_STEADY_FLOWS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "core/base/result.h"
#include "core/model/topology.h"
#include "core/network/network_log.h"

namespace drydock {

// Sends messages of 10 KB one after another, a few in flight, from `begin` until `end` or until
// `total` bytes are sent. A host has at most one such flow.
struct Flow {
  HostId from = 0, to = 0;
  Time begin, end;
  int64_t total = INT64_MAX;
  uint32_t number = 0;  // of the queue pair; selects the route
};

// Bytes that each sender's flow has delivered, by number of the interval.
using Delivered = std::map<int64_t, std::map<HostId, int64_t>>;
Delivered DeliveredIn(const NetworkLog& log, Time interval);

// Returns the rate in Gb/s of `bytes` in `interval`.
double GbpsOf(int64_t bytes, Time interval);

// Runs the flows to their end on the packet network.
Result<NetworkLog> RunFlows(const Topology& topology, const std::vector<Flow>& flows,
                            Time interval);

}  // namespace drydock

#endif  // DRYDOCK_TESTS_VALIDATION_STEADY_FLOWS_H_
