#include "core/model/fabric/fabric_paths.h"

#include <algorithm>
#include <limits>

namespace drydock {

FabricPaths::FabricPaths(const Topology& topology) : topology_(topology) {
  for (int host = 0; host < topology.host_count(); ++host) {
    first_nic_.push_back(nics_);
    nics_ += topology.kind_of_host(host).nics.count;
  }
  edges_.resize(static_cast<size_t>(nics_) + topology.fabric.switches.size());
  row_.resize(static_cast<size_t>(nics_));
  switch_rows_.resize(topology.fabric.switches.size());
  for (size_t i = 0; i < topology.fabric.links.size(); ++i) {
    const int a = NodeOf(topology.fabric.links[i].a);
    const int b = NodeOf(topology.fabric.links[i].b);
    edges_[static_cast<size_t>(a)].push_back({b, static_cast<int>(i)});
    edges_[static_cast<size_t>(b)].push_back({a, static_cast<int>(i)});
  }
}

int FabricPaths::NodeOf(const LinkEnd& end) const {
  return end.is_switch ? nics_ + end.index : NicNode(end.index, end.nic);
}

FabricPath FabricPaths::Between(int from_nic_node, int to_nic_node) {
  const std::vector<Edge>& cables = edges_[static_cast<size_t>(from_nic_node)];
  if (cables.size() == 1 && cables[0].to >= nics_) return OverSwitches(cables[0], to_nic_node);
  std::vector<FabricPath>& row = row_[static_cast<size_t>(from_nic_node)];
  if (row.empty()) FillRow(from_nic_node);
  return row[static_cast<size_t>(to_nic_node)];
}

const FabricPaths::SwitchRow& FabricPaths::RowOf(int switch_node) {
  SwitchRow& row = switch_rows_[static_cast<size_t>(switch_node - nics_)];
  if (!row.empty()) return row;
  row.resize(switch_rows_.size());
  row[static_cast<size_t>(switch_node - nics_)] = {
      Time(), Bandwidth::BitsPerSecond(std::numeric_limits<int64_t>::max()), 0, 0};
  std::vector<int> queue = {switch_node};
  for (size_t head = 0; head < queue.size(); ++head) {
    const int node = queue[head];
    const SwitchPath here = row[static_cast<size_t>(node - nics_)];
    for (const Edge& edge : edges_[static_cast<size_t>(node)]) {
      if (edge.to < nics_) continue;
      SwitchPath& there = row[static_cast<size_t>(edge.to - nics_)];
      if (there.switches >= 0) continue;
      const FabricLink& link = LinkOf(edge);
      there = {here.latency + LatencyOf(node) + link.delay, std::min(here.bottleneck, link.rate),
               here.switches + 1, static_cast<int>(queue.size())};
      queue.push_back(edge.to);
    }
  }
  return row;
}

// The path from a NIC whose only cable is `first`, over the first switch found that has a cable to
// the other NIC.
FabricPath FabricPaths::OverSwitches(const Edge& first, int to) {
  const SwitchRow& row = RowOf(first.to);
  const Edge* last = nullptr;
  const SwitchPath* between = nullptr;
  for (const Edge& cable : edges_[static_cast<size_t>(to)]) {
    if (cable.to < nics_) continue;
    const SwitchPath& here = row[static_cast<size_t>(cable.to - nics_)];
    if (here.switches < 0 || (between != nullptr && here.order >= between->order)) continue;
    between = &here;
    last = &cable;
  }
  if (between == nullptr) return {};
  const FabricLink &out = LinkOf(first), &in = LinkOf(*last);
  FabricPath path;
  path.latency = out.delay + between->latency + LatencyOf(last->to) + in.delay;
  path.bottleneck = std::min({out.rate, between->bottleneck, in.rate});
  path.first = out.rate;
  path.last = in.rate;
  path.switches = between->switches + 1;
  return path;
}

// Breadth-first search. Only switches forward traffic: a NIC ends a path.
void FabricPaths::FillRow(int source) {
  std::vector<FabricPath> best(edges_.size());
  best[static_cast<size_t>(source)].switches = 0;
  std::vector<int> queue = {source};
  for (size_t head = 0; head < queue.size(); ++head) {
    const int node = queue[head];
    if (node < nics_ && node != source) continue;
    const FabricPath here = best[static_cast<size_t>(node)];
    const bool is_switch = node >= nics_;
    for (const Edge& edge : edges_[static_cast<size_t>(node)]) {
      FabricPath& there = best[static_cast<size_t>(edge.to)];
      if (there.switches >= 0) continue;
      const FabricLink& link = topology_.fabric.links[static_cast<size_t>(edge.link)];
      there.switches = here.switches + (is_switch ? 1 : 0);
      there.latency = here.latency + link.delay;
      if (is_switch) {
        there.latency += topology_.fabric.switches[static_cast<size_t>(node - nics_)].latency;
      }
      there.first = node == source ? link.rate : here.first;
      there.last = link.rate;
      there.bottleneck = node == source ? link.rate : std::min(here.bottleneck, link.rate);
      queue.push_back(edge.to);
    }
  }
  best.resize(static_cast<size_t>(nics_));
  row_[static_cast<size_t>(source)] = std::move(best);
}

}  // namespace drydock
