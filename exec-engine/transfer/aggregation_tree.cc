#include "exec-engine/transfer/aggregation_tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace drydock {

SwitchGraph::SwitchGraph(const Topology& topology) : neighbors_(topology.fabric.switches.size()) {
  for (const FabricLink& link : topology.fabric.links) {
    for (const auto& [here, there] : {std::pair(link.a, link.b), std::pair(link.b, link.a)}) {
      if (!there.is_switch) continue;
      if (here.is_switch) {
        neighbors_[static_cast<size_t>(here.index)].push_back(there.index);
      } else {
        switch_of_.emplace(NicPlace{here.index, here.nic}, there.index);
      }
    }
  }
}

int SwitchGraph::SwitchOf(NicPlace nic) const {
  const auto found = switch_of_.find(nic);
  return found == switch_of_.end() ? -1 : found->second;
}

// Distances in cables; -1: unreachable.
std::vector<int> SwitchGraph::DistancesFrom(int from) const {
  std::vector<int> distance(neighbors_.size(), -1);
  distance[static_cast<size_t>(from)] = 0;
  std::vector<int> queue = {from};
  for (size_t head = 0; head < queue.size(); ++head) {
    const auto here = static_cast<size_t>(queue[head]);
    for (const int next : neighbors_[here]) {
      if (distance[static_cast<size_t>(next)] >= 0) continue;
      distance[static_cast<size_t>(next)] = distance[here] + 1;
      queue.push_back(next);
    }
  }
  return distance;
}

const std::vector<int>& SwitchGraph::Distances(int from) {
  const auto known = distances_.find(from);
  if (known != distances_.end()) return known->second;
  return distances_.emplace(from, DistancesFrom(from)).first->second;
}

int SwitchGraph::ChooseRoot(const std::vector<int>& leaves, int spread) {
  std::vector<int> farthest(neighbors_.size(), 0);
  for (const int leaf : leaves) {
    const std::vector<int>& distance = Distances(leaf);
    for (size_t s = 0; s < farthest.size(); ++s) {
      const bool reached = farthest[s] >= 0 && distance[s] >= 0;
      farthest[s] = reached ? std::max(farthest[s], distance[s]) : -1;
    }
  }
  std::vector<int> best;
  int least = -1;
  for (size_t s = 0; s < farthest.size(); ++s) {
    if (farthest[s] < 0 || (least >= 0 && farthest[s] > least)) continue;
    if (farthest[s] != least) best.clear();
    least = farthest[s];
    best.push_back(static_cast<int>(s));
  }
  return best.empty() ? -1 : best[static_cast<size_t>(spread) % best.size()];
}

Result<AggregationTree> SwitchGraph::TreeFor(std::span<const NicPlace> nics) {
  std::vector<int> leaves;
  for (const NicPlace& nic : nics) leaves.push_back(SwitchOf(nic));
  const std::vector<int> leaf_of = leaves;
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  const int root = leaves.front() < 0 ? -1 : ChooseRoot(leaves, nics.front().nic);
  if (root < 0) {
    return Error(
        fmt::format("no switch is reachable from NIC {} of host {} and from all other NICs of its "
                    "reduction",
                    nics.front().nic, nics.front().host));
  }
  AggregationTree tree;
  std::vector<int> node_of_switch(neighbors_.size(), -1);
  const auto add = [&](int switch_index, int parent) {
    node_of_switch[static_cast<size_t>(switch_index)] = static_cast<int>(tree.nodes.size());
    tree.nodes.push_back({switch_index, parent});
  };
  add(root, -1);
  const std::vector<int>& height = Distances(root);
  for (const int leaf : leaves) {
    // Climb toward the root up to a switch that is in the tree, then add the path downwards.
    std::vector<int> path = {leaf};
    while (node_of_switch[static_cast<size_t>(path.back())] < 0) {
      const auto here = static_cast<size_t>(path.back());
      path.push_back(*std::find_if(neighbors_[here].begin(), neighbors_[here].end(), [&](int next) {
        return height[static_cast<size_t>(next)] == height[here] - 1;
      }));
    }
    for (size_t i = path.size() - 1; i-- > 0;) {
      add(path[i], node_of_switch[static_cast<size_t>(path[i + 1])]);
    }
  }
  for (const int leaf : leaf_of) tree.node_of.push_back(node_of_switch[static_cast<size_t>(leaf)]);
  return tree;
}

}  // namespace drydock
