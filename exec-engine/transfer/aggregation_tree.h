// Trees of switches that sum what NICs send (SHARP's aggregation trees), found from the cables.
//
// The leaves of a tree are the switches of the NICs. Its root is the switch whose largest distance
// to a leaf is smallest. Among several such switches, NICs of different index take different ones,
// so rails spread over the spines. All paths of a tree are shortest paths. (SHARP's aggregation
// manager builds its trees over the same switches; its configuration chooses the root.)
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_AGGREGATION_TREE_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_AGGREGATION_TREE_H_

#include <map>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/model/topology.h"

namespace drydock {

struct NicPlace {
  int host = 0;
  int nic = 0;
  friend auto operator<=>(const NicPlace&, const NicPlace&) = default;
};

struct AggregationTree {
  struct Node {
    int switch_index = 0;
    int parent = -1;  // index into nodes; -1: the root
  };
  std::vector<Node> nodes;   // the root first
  std::vector<int> node_of;  // by NIC: the node to which it sends, index into nodes
};

class SwitchGraph {
 public:
  explicit SwitchGraph(const Topology& topology);

  // Returns the switch at the NIC's first cable, -1 if there is none.
  int SwitchOf(NicPlace nic) const;
  // Returns an error if no switch is reachable from the switches of all NICs.
  // REQUIRES: `nics` is not empty.
  Result<AggregationTree> TreeFor(std::span<const NicPlace> nics);

 private:
  std::vector<int> DistancesFrom(int from) const;
  const std::vector<int>& Distances(int from);
  int ChooseRoot(const std::vector<int>& leaves, int spread);

  std::map<NicPlace, int> switch_of_;
  std::vector<std::vector<int>> neighbors_;  // of a switch, in the order of the cables
  std::map<int, std::vector<int>> distances_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_AGGREGATION_TREE_H_
