// Shortest paths (fewest cables, then the earliest cable in the topology's order) between NICs over
// the fabric, with what the analytical network needs of them. Rows are worked out on first use and
// kept. Not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_FABRIC_PATHS_H_
#define DRYDOCK_EXEC_ENGINE_FABRIC_PATHS_H_

#include <cstdint>
#include <vector>

#include "core/model/topology.h"

namespace drydock {

struct FabricPath {
  Time latency;          // cables and switches, without serialisation
  Bandwidth bottleneck;  // slowest cable
  Bandwidth last;        // the receiver's cable
  int switches = -1;     // passed on the way; -1 = unreachable
};

class FabricPaths {
 public:
  // `topology` outlives this.
  explicit FabricPaths(const Topology& topology);

  // NICs are numbered host by host.
  int NicNode(int host, int nic) const { return first_nic_[static_cast<size_t>(host)] + nic; }
  const FabricPath& Between(int from_nic_node, int to_nic_node);

 private:
  struct Edge {
    int to = 0;
    int link = 0;
  };
  void FillRow(int source);
  int NodeOf(const LinkEnd& end) const;

  const Topology& topology_;
  std::vector<int> first_nic_;
  int nics_ = 0;
  std::vector<std::vector<Edge>> edges_;      // by node: NICs, then switches
  std::vector<std::vector<FabricPath>> row_;  // [source NIC][NIC], empty until used
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_FABRIC_PATHS_H_
