// A comparison of two workloads as text and as JSON.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_DIFF_TEXT_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_DIFF_TEXT_H_

#include <cstddef>
#include <string>

#include "workload-gen/graph/diff/workload_diff.h"

namespace drydock {

// Returns a table of counts, then the first `shown` differences of each subject.
std::string DiffText(const WorkloadDiff& diff, size_t shown);
// Returns all differences.
std::string DiffJson(const WorkloadDiff& diff);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_DIFF_TEXT_H_
