// Runs a sweep of calls over groups of a cluster: simccl plans the calls, and each is replayed
// alone, as often as nccl-tests makes it.
#ifndef DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_PERF_H_
#define DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_PERF_H_

#include <functional>
#include <string>
#include <vector>

#include "core/base/cli.h"
#include "core/base/result.h"
#include "core/model/workload.h"
#include "core/network/network.h"
#include "core/schema/cluster/cluster_file.h"
#include "exec-engine/collective-perf/collective_table.h"
#include "exec-engine/replay/call_loop.h"

namespace drydock {

// The network for each size: `below` for sizes below `limit`, `from` for the others. If both are
// null, PickNetwork chooses for each size (network_pick.h).
struct NetworkRule {
  const NetworkModel* below = nullptr;
  const NetworkModel* from = nullptr;
  Bytes limit;
  const NetworkModel* For(Bytes size) const { return size < limit ? below : from; }
  std::string Text() const;
};

// Parses a network, "auto", or "auto:SIZE": packet below SIZE, analytical from SIZE on.
Result<NetworkRule> ParseNetworkRule(const std::string& text);

// The ranks of the groups: `lists` (rank_list.h), each repeated with its ranks moved up by 1, 2,
// ... `shift` - 1. Without lists, the first GPUs of the first hosts (0: all).
struct GroupChoice {
  std::vector<std::string> lists;
  int shift = 1;
  int hosts = 0;
  int ranks_per_host = 0;
};
// Returns groups of equal size that share no rank.
Result<std::vector<Group>> ChooseGroups(const GroupChoice& choice, const Topology& topology);

struct CollectivePerf {
  ClusterInput cluster;
  std::vector<Group> groups;
  std::vector<SweepSize> sizes;
  NetworkRule network;
  CallLoop loop;
  int aggregated = 1;  // equal calls in one group (ncclGroupStart to ncclGroupEnd)
  int threads = 1;
  std::vector<std::string> simccl_arguments;
  // Whose progress is shown, and how.
  ToolInfo tool;
  CommonOptions common;
};

// Plans all sizes in a temporary run directory, then replays one after another and passes each
// result to `on_result`. With `check`, validates and plans only.
Status RunCollectivePerf(const CollectivePerf& perf, bool check,
                         const std::function<void(const SweepResult&)>& on_result);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_PERF_H_
