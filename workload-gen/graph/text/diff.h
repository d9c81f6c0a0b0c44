// What differs between two workloads, by what ops mean and not by where tables have them: the
// cluster, the groups of roles, what each rank does.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_DIFF_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_DIFF_H_

#include <string>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

struct DiffOptions {
  size_t shown = 20;  // differing ops of a pair of programs
};

// A line each; empty if the workloads mean the same. Programs are compared once for each pair of
// classes that some rank runs in the one and the other. Ops that stand in only one of them are
// "-" or "+"; such an op changes what others depend on only if those are ops of both.
std::vector<std::string> Differences(const Workload& a, const Workload& b,
                                     const DiffOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_DIFF_H_
