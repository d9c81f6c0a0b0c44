// For tests: small workloads on a real cluster, and changes to one rank.
#ifndef DRYDOCK_WORKLOAD_GEN_TESTING_WORKLOADS_TESTING_H_
#define DRYDOCK_WORKLOAD_GEN_TESTING_WORKLOADS_TESTING_H_

#include <functional>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "core/schema/cluster/cluster_file.h"
#include "workload-gen/testing/job_testing.h"
#include "workload-gen/work/table_finish.h"

namespace drydock {

inline ClusterInput ShippedCluster(const std::string& name, int hosts) {
  return *LoadCluster("configs/clusters/" + name + ".topo",
                      {"cluster.hosts=" + std::to_string(hosts)});
}

// TP2 PP2 DP2 of Megatron on one host with eight GPUs.
inline Workload MegatronWorkload(const std::vector<std::string>& overrides = {}) {
  return TestWorkload(overrides);
}

// Applies `change` to the program of that rank only; the rank gets a separate class.
inline Workload WithRankChanged(const Workload& from, int rank,
                                const std::function<void(Program*)>& change) {
  Workload w = from;
  int& rank_class = w.class_of_rank[static_cast<size_t>(rank)];
  w.programs.push_back(w.programs[static_cast<size_t>(rank_class)]);
  rank_class = w.class_count++;
  change(&w.programs.back());
  return w;
}

// Removes the op. Ops that depended on it depend on its dependencies.
inline void RemoveOp(uint32_t removed, Program* program) {
  Program out;
  out.dependency_begin = {0};
  const auto add = [&](uint32_t before, auto&& self) -> void {
    if (before != removed) {
      out.dependency.push_back(before > removed ? before - 1 : before);
      return;
    }
    for (const uint32_t earlier : program->dependencies(removed)) self(earlier, self);
  };
  for (uint32_t i = 0; i < program->ops.size(); ++i) {
    if (i == removed) continue;
    out.ops.push_back(program->ops[i]);
    for (const uint32_t before : program->dependencies(i)) add(before, add);
    out.dependency_begin.push_back(static_cast<uint32_t>(out.dependency.size()));
  }
  *program = std::move(out);
}

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_TESTING_WORKLOADS_TESTING_H_
