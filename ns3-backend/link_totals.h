// The traffic of each link of a fabric in a run.
#ifndef DRYDOCK_NS3_BACKEND_LINK_TOTALS_H_
#define DRYDOCK_NS3_BACKEND_LINK_TOTALS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/processes.h"
#include "core/model/link_total.h"
#include "ns3-backend/helper/fabric-helper.h"

namespace drydock {

// Returns the totals of a link up to `now`, in ps.
LinkTotal TotalOf(const ns3::rdma::FabricHelper& fabric, uint32_t link, int64_t now);

// Returns the time of the last event of any node of any process, in ps; the same in each process.
int64_t LastEvent(const ns3::rdma::FabricHelper& fabric, Processes* processes);

// Returns the `most` links that were in use for the longest time up to `end`, in ps, the longest
// first, without unused links. The same in each process.
std::vector<LinkTotal> BusiestLinks(const ns3::rdma::FabricHelper& fabric, size_t most, int64_t end,
                                    Processes* processes);

}  // namespace drydock

#endif  // DRYDOCK_NS3_BACKEND_LINK_TOTALS_H_
