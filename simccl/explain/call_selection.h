// One call over one group of a cluster, or several that are made together (ncclGroupStart to
// ncclGroupEnd), as `simccl explain` and `simccl expand` take them from the command line.
#ifndef DRYDOCK_SIMCCL_EXPLAIN_CALL_SELECTION_H_
#define DRYDOCK_SIMCCL_EXPLAIN_CALL_SELECTION_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

// As typed. A collective and a size for each call; of the rest one for each, or one for all.
struct CallWords {
  std::string cluster, group;
  std::vector<std::string> collectives, sizes;
  std::vector<std::string> types = {"bf16"}, ops = {"sum"}, buffers = {"plain"};
  std::vector<std::string> overrides;
  std::vector<int> roots = {0}, peers = {1};
};

struct SelectedCall {
  Topology topology;
  std::vector<int> ranks;  // in communicator order
  CommCall call;           // grouped, if several were typed
  std::vector<Placement::Slot> Slots() const;
};

void DeclareCallWords(CLI::App* app, CallWords* words);

// What is wrong with the words whatever the cluster is (CheckOptions).
Status CheckCallWords(const CallWords& words);

// Reads the cluster; `library_path` is NCCL's, for what it says of the settings. Errors: ranks it
// does not have, a size that is no whole number of elements or does not divide among the members, a
// root outside the group.
Result<SelectedCall> SelectCall(const CallWords& words, const std::string& library_path);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPLAIN_CALL_SELECTION_H_
