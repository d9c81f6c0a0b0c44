// What the directions of the cables of a fabric did in a run.
#ifndef DRYDOCK_NS3_BACKEND_LINK_TOTALS_H_
#define DRYDOCK_NS3_BACKEND_LINK_TOTALS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/processes.h"
#include "core/model/link_total.h"
#include "ns3-backend/helper/fabric-helper.h"

namespace drydock {

// What a direction did until `now`, in ps.
LinkTotal TotalOf(const ns3::rdma::FabricHelper& fabric, uint32_t link, int64_t now);

// When the last event of any node of any process was, in ps; the same in each of them.
int64_t LastEvent(const ns3::rdma::FabricHelper& fabric, Processes* processes);

// The `most` directions that were in use for the longest time, the longest first; none that was
// never used. Until `end`, in ps, of all processes, in each of them.
std::vector<LinkTotal> BusiestLinks(const ns3::rdma::FabricHelper& fabric, size_t most, int64_t end,
                                    Processes* processes);

}  // namespace drydock

#endif  // DRYDOCK_NS3_BACKEND_LINK_TOTALS_H_
