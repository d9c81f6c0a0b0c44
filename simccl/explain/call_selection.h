// Reads the call of `simccl explain` and `simccl expand` from the command line: one call over one
// group of a cluster, or several calls that are made together (ncclGroupStart to ncclGroupEnd).
#ifndef DRYDOCK_SIMCCL_EXPLAIN_CALL_SELECTION_H_
#define DRYDOCK_SIMCCL_EXPLAIN_CALL_SELECTION_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace CLI {
class App;
}

namespace drydock {

// The options as typed. Each call has a collective and a size. Of every other option there is one
// per call, or one for all calls.
struct CallOptions {
  std::string cluster, group;
  std::vector<std::string> collectives, sizes;
  std::vector<std::string> types = {"bf16"}, ops = {"sum"}, buffers = {"plain"};
  std::vector<std::string> overrides;
  std::vector<int> roots = {0}, peers = {1};
};

struct SelectedCall {
  Topology topology;
  std::vector<int> ranks;  // in communicator order
  CommCall call;           // grouped if there are several
  std::vector<Placement::Slot> Slots() const;
};

void DeclareCallOptions(CLI::App* app, CallOptions* options);

// Returns the mistakes that do not depend on the cluster (for CheckOptions).
Status CheckCallOptions(const CallOptions& options);

// Reads the cluster and makes the call. `library_path` names libhacknccl.so, which checks the
// settings. Errors: a rank that the cluster does not have; a size that is not a whole number of
// elements or does not divide among the members; a root outside the group.
Result<SelectedCall> SelectCall(const CallOptions& options, const std::string& library_path);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPLAIN_CALL_SELECTION_H_
