// Trees of switches that sum what NICs send (SHARP's aggregation trees), worked out from the
// cables.
//
// The leaves of a tree are the switches that the NICs are on. Its root is the switch from which the
// farthest of them is nearest; among several such, NICs of different index take different ones, so
// that rails share the spines. A tree's ways are shortest ones. (SHARP's aggregation manager builds
// its trees over the same switches; which root it takes is up to its configuration.)
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
  std::vector<int> node_of;  // by NIC: the node it sends to, index into nodes
};

class SwitchGraph {
 public:
  explicit SwitchGraph(const Topology& topology);

  // The switch that the NIC's first cable leads to; -1 if it leads to none.
  int SwitchOf(NicPlace nic) const;
  // `nics` is not empty. An error if no switch can be reached from all of theirs.
  Result<AggregationTree> TreeFor(std::span<const NicPlace> nics);

 private:
  std::vector<int> DistancesFrom(int from) const;
  const std::vector<int>& Distances(int from);
  int ChooseRoot(const std::vector<int>& leaves, int spread);

  std::map<NicPlace, int> switch_of_;
  std::vector<std::vector<int>> neighbours_;  // of a switch, in the order of the cables
  std::map<int, std::vector<int>> distances_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_AGGREGATION_TREE_H_
