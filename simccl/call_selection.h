// One call over one group of a cluster, as `simccl explain` and `simccl expand` take it from the
// command line.
#ifndef DRYDOCK_SIMCCL_CALL_SELECTION_H_
#define DRYDOCK_SIMCCL_CALL_SELECTION_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"
#include "simccl/collective_planner.h"

namespace drydock {

// As typed.
struct CallWords {
  std::string cluster, group, collective, size;
  std::string type = "bf16", op = "sum";
  std::vector<std::string> overrides;
  int root = 0, peer = 1;
};

struct SelectedCall {
  Topology topology;
  std::vector<int> ranks;  // in communicator order
  CommCall call;
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

#endif  // DRYDOCK_SIMCCL_CALL_SELECTION_H_
