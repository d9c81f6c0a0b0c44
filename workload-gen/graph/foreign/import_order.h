// Computes the order in which the ops of a foreign job start. Internal to import.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_IMPORT_ORDER_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_IMPORT_ORDER_H_

#include <vector>

#include "workload-gen/graph/foreign/import.h"

namespace drydock {

// Returns the ops of each rank in the order in which they start in a replay. The GPU and the host
// run one op at a time and start the ready op with the smallest id. A collective ends when all its
// members have started it, a receive when its send has started; communication takes no time. `gpu`
// gives the speed of counted ops. Ops that never start follow in an order that satisfies their
// dependencies. REQUIRES: the dependencies within a rank have no cycle.
std::vector<std::vector<uint32_t>> OrderOps(const ForeignJob& job, const GpuSpec& gpu);

// Returns the ops of a cycle within one rank, in order, or nothing if there is none.
std::vector<uint32_t> FindCycle(const ForeignRank& rank);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_IMPORT_ORDER_H_
