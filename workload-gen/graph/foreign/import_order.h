// The order in which a foreign job's ops start. Internal to import.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_IMPORT_ORDER_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_IMPORT_ORDER_H_

#include <vector>

#include "workload-gen/graph/foreign/import.h"

namespace drydock {

// [rank]: its ops in the order in which they start when the job is played: what is ready starts,
// on the GPU and on the host one after another, the smallest id first; a collective ends when all
// its members have begun it, a receive when its send has; communication takes no time. `gpu` says
// how fast counted ops are. Ops that can never start follow in an order that their dependencies
// allow.
// Dependencies within a rank have no circle.
std::vector<std::vector<uint32_t>> OrderOps(const ForeignJob& job, const GpuSpec& gpu);

// The ops of a circle within one rank, in order; empty if there is none.
std::vector<uint32_t> FindCircle(const ForeignRank& rank);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_IMPORT_ORDER_H_
