// The options of collective-perf and their meaning.
#ifndef DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_PERF_OPTIONS_H_
#define DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_PERF_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/cli.h"
#include "exec-engine/collective-perf/collective_perf.h"
#include "exec-engine/collective-perf/idle_options.h"

namespace CLI {
class Option;
}

namespace drydock {

// Options as typed. `sweep`, `loop` and `rule` are what they mean.
struct CollectivePerfOptions {
  std::string collective, cluster;
  std::string astra_network, astra_system;  // in place of a cluster
  std::string smallest = "32M", largest = "32M", increment, type = "float", op = "sum";
  std::string root = "0", pairs;
  std::string network = "auto:64M", threads = "auto", nccl_library, planner;
  std::vector<std::string> overrides;
  int64_t factor = 2;
  GroupChoice groups;
  int blocking = 0, rank_time = 1, buffers = 0;
  int aggregated = 1;  // calls of a group
  int graphs = 0;      // launches of a CUDA graph of all calls; 0: no graph
  int policy = -1;     // NCCL's; -1: that of the cluster file
  int process_gpus = 1;
  double launch_us = 0;  // 0: that of configs/nccl-tests.yaml if a process has several GPUs
  bool json = false;
  std::string output;  // a file for nccl-tests' JSON; may be empty
  IdleOptions idle;
  CLI::Option* factor_option = nullptr;
  bool dimensions() const { return !astra_network.empty(); }
  // A graph launches all calls of a GPU at once.
  bool launches_take_time() const { return graphs == 0 && (process_gpus > 1 || launch_us > 0); }
  Sweep sweep;  // without roots if all of them are wanted
  CallLoop loop;
  NetworkRule rule;
};

// Declares nccl-tests' flags by their own names, and ours. The check of the app sets `sweep`,
// `loop` and `rule`.
void DeclareCollectivePerf(CLI::App* app, CollectivePerfOptions* options, const CommonOptions&);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_PERF_OPTIONS_H_
