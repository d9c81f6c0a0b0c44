// Shared by the tests of bytes on the wire: plans, and what their members send and receive.
#ifndef DRYDOCK_SIMCCL_TESTING_TRAFFIC_TESTING_H_
#define DRYDOCK_SIMCCL_TESTING_TRAFFIC_TESTING_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "core/model/flow_plan.h"
#include "core/model/workload.h"
#include "simccl/testing/expand_testing.h"

namespace drydock {

inline const std::vector<int> kAll = {0, 1, 2, 3, 4, 5, 6, 7};

// Make the plan. A failure is an error of the test.
Plan Expanded(const NcclCommunicator& comm, const hacknccl_collective& work);
Plan Expanded(const NcclCommunicator& comm, const CommCall& call);  // of messages

struct TrafficBytes {
  int64_t payload = 0, wire = 0;
};
// Returns what each member sends, or receives, on the connections that `counts` accepts.
enum class End : uint8_t { kSends, kReceives };
std::vector<TrafficBytes> TrafficOf(const Plan& plan, End end,
                                    const std::function<bool(const Connection&)>& counts);
std::vector<TrafficBytes> Sent(const Plan& plan);
std::vector<TrafficBytes> Received(const Plan& plan);
int64_t PayloadOf(const std::vector<TrafficBytes>& bytes);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_TESTING_TRAFFIC_TESTING_H_
