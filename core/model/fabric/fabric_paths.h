// Shortest paths between NICs over the fabric: fewest cables, then the earliest cable in the order
// of the topology. Rows of paths are computed on first use and kept. All NICs whose only cable
// leads to one switch share a row. 16,384 NICs on 512 leaves with 512 spines need 20 MB. Not
// thread-safe.
#ifndef DRYDOCK_CORE_MODEL_FABRIC_FABRIC_PATHS_H_
#define DRYDOCK_CORE_MODEL_FABRIC_FABRIC_PATHS_H_

#include <cstdint>
#include <vector>

#include "core/model/topology.h"

namespace drydock {

struct FabricPath {
  Time latency;          // cables and switches, without serialization
  Bandwidth bottleneck;  // slowest cable
  Bandwidth first;       // cable of the sender
  Bandwidth last;        // cable of the receiver
  int switches = -1;     // on the path; -1: no path exists
};

class FabricPaths {
 public:
  // REQUIRES: `topology` outlives this object.
  explicit FabricPaths(const Topology& topology);

  // NICs are numbered host by host.
  int NicNode(int host, int nic) const { return first_nic_[static_cast<size_t>(host)] + nic; }
  FabricPath Between(int from_nic_node, int to_nic_node);

 private:
  struct Edge {
    int to = 0;
    int link = 0;
  };
  // A path from one switch to another; excludes the latency of the second switch.
  struct SwitchPath {
    Time latency;
    Bandwidth bottleneck;
    int switches = -1;
    int order = 0;  // of switches in the search: nearest first, then in the topology's order
  };
  using SwitchRow = std::vector<SwitchPath>;

  const FabricLink& LinkOf(const Edge& edge) const {
    return topology_.fabric.links[static_cast<size_t>(edge.link)];
  }
  Time LatencyOf(int node) const {
    return topology_.fabric.switches[static_cast<size_t>(node - nics_)].latency;
  }
  const SwitchRow& RowOf(int switch_node);
  FabricPath OverSwitches(const Edge& first, int to);
  void FillRow(int source);
  int NodeOf(const LinkEnd& end) const;

  const Topology& topology_;
  std::vector<int> first_nic_;
  int nics_ = 0;
  std::vector<std::vector<Edge>> edges_;      // by node: NICs, then switches
  std::vector<SwitchRow> switch_rows_;        // [switch][switch], empty until used
  std::vector<std::vector<FabricPath>> row_;  // [source NIC][NIC]: only NICs with several cables
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_FABRIC_PATHS_H_
