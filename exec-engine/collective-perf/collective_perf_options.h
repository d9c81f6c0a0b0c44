// What collective-perf is asked: its flags, and what they mean.
#ifndef DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_PERF_OPTIONS_H_
#define DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_PERF_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/cli.h"
#include "exec-engine/collective-perf/collective_perf.h"

namespace drydock {

// As typed; `sweep` and `network` as understood.
struct CollectivePerfOptions {
  std::string collective, cluster;
  std::string astra_network, astra_system;  // in place of a cluster
  std::string smallest = "32M", largest = "32M", increment, type = "float", op = "sum";
  std::string root = "0", pairs;
  std::string network = "auto:64M", threads = "auto", nccl_library;
  std::vector<std::string> overrides;
  int64_t factor = 2;
  GroupChoice groups;
  int warm_ups = 1, checks = 0, blocking = 0, rank_time = 1, buffers = 0;
  bool json = false;
  bool dimensions() const { return !astra_network.empty(); }
  Sweep sweep;  // without the roots, if all are wanted
  CallLoop loop;
  NetworkRule rule;
};

// nccl-tests' flags by its own names, and ours. The app's check is what fills in what is
// understood.
void DeclareCollectivePerf(CLI::App* app, CollectivePerfOptions* options, const CommonOptions&);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_PERF_OPTIONS_H_
