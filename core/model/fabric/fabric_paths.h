// Shortest paths (fewest cables, then the earliest cable in the topology's order) between NICs over
// the fabric, with what the analytical network needs of them. What is worked out on first use and
// kept is a row of switches for each switch with NICs, which all NICs have in common that have no
// other cable: 16,384 NICs on 512 leaves and as many spines need 20 MB. Not thread-safe.
#ifndef DRYDOCK_CORE_MODEL_FABRIC_FABRIC_PATHS_H_
#define DRYDOCK_CORE_MODEL_FABRIC_FABRIC_PATHS_H_

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
  FabricPath Between(int from_nic_node, int to_nic_node);

 private:
  struct Edge {
    int to = 0;
    int link = 0;
  };
  // From a switch to another, whose own latency is not part of it.
  struct SwitchPath {
    Time latency;
    Bandwidth bottleneck;
    int switches = -1;
    int order = 0;  // in which switches were found: the nearest, and of those the first, come first
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
  std::vector<std::vector<FabricPath>> row_;  // [source NIC][NIC]: of NICs with several cables
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_FABRIC_PATHS_H_
