// The traces of a workload as ASTRA-sim runs them: a graph of nodes for each NPU.
#ifndef DRYDOCK_EXEC_ENGINE_ASTRA_ASTRA_TRACE_H_
#define DRYDOCK_EXEC_ENGINE_ASTRA_ASTRA_TRACE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/fabric/dimension_network.h"
#include "core/model/workload.h"

namespace drydock {

struct AstraNode {
  // kNothing ends when it begins: metadata, and nodes without work.
  enum class Kind : uint8_t { kNothing, kCompute, kHost, kFixed, kCollective, kSend, kReceive };
  Kind kind = Kind::kNothing;
  uint64_t id = 0;
  std::string name;
  Time time;  // kCompute, kHost, kFixed (a broadcast, which takes the NPU's network)
  CollectiveType collective = CollectiveType::kAllReduce;
  int group = 0;  // index of AstraWorkload::groups
  int priority = 0;
  int64_t bytes = 0;
  int peer = -1, tag = 0;
  std::vector<uint32_t> next;  // indices of the nodes that wait for this one
  uint32_t waits = 0;          // for so many
};

struct AstraWorkload {
  std::vector<std::vector<int>> groups;        // the first: all NPUs
  std::vector<std::vector<AstraNode>> of_npu;  // by id
  bool alike = false;  // all NPUs have one trace, without messages, and calls over all NPUs only
};

// Reads PREFIX.<npu>.et for each NPU of the network. `groups`: ASTRA-sim's JSON of groups; "":
// none. Errors: what ASTRA-sim or Drydock does not run, with the node.
Result<AstraWorkload> ReadAstraWorkload(const std::string& prefix, const std::string& groups,
                                        const DimensionNetwork& network,
                                        const CollectiveSystem& system);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_ASTRA_ASTRA_TRACE_H_
