// The totals of a workload over all ranks of one iteration.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_STATS_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_STATS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

struct WorkloadStats {
  // Compute by kind of submodule and pass, in the order of the kinds and the enum, without empty
  // rows.
  struct Compute {
    size_t kind = 0;  // SubmoduleKindNames
    Pass pass = Pass::kNone;
    int64_t times = 0;  // runs of submodules, over all ranks
    double flops = 0;
    double bytes = 0;  // memory traffic if each operand moves once
  };
  // Communication by role and kind of call, in the order of roles and enums.
  struct Communication {
    std::string role;
    CollectiveType collective = CollectiveType::kAllReduce;
    int64_t calls = 0;  // counted once per group, not per member
    double bytes = 0;   // the calls' buffers (CommCall::count)
    int64_t least_members = 0, most_members = 0;
    int64_t groups = 0;  // groups that make such a call
  };
  struct Phased {
    Phase phase = Phase::kOther;
    int64_t compute = 0, collectives = 0, sends = 0, receives = 0;  // ops over all ranks
    int64_t loads = 0, stores = 0, host_works = 0;
  };
  // Loads, stores and the host's work, by name.
  struct Transfers {
    std::string name;
    MemoryTier tier = MemoryTier::kHost;
    OpKind kind = OpKind::kLoad;
    int64_t times = 0;
    double bytes = 0;
  };
  std::vector<Compute> compute;
  std::vector<Communication> communication;
  std::vector<Transfers> transfers;
  std::vector<Phased> phases;
  int64_t ops = 0;
  double flops = 0;
};

// REQUIRES: the workload passed `check`.
WorkloadStats StatsOf(const Workload& workload);

std::string StatsText(const Workload& workload, const WorkloadStats& stats);
std::string StatsJson(const Workload& workload, const WorkloadStats& stats);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_STATS_H_
