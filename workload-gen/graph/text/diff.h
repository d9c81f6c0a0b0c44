// Compares two workloads by meaning, not by table indices: totals, the groups of roles, and the ops
// of each rank.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_DIFF_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_DIFF_H_

#include <string>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

struct DiffOptions {
  size_t shown = 20;  // limit of printed ops per pair of programs
};

// Returns one line per difference; none if the workloads are equivalent. Compares the programs of
// each pair of classes that a rank has in the two workloads. Marks ops of only one workload with
// "-" or "+". Dependencies are compared only among ops of both workloads.
std::vector<std::string> Differences(const Workload& a, const Workload& b,
                                     const DiffOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_DIFF_H_
