#include "exec-engine/transfer/aggregation.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/check.h"
#include "core/model/fabric/flow_name.h"

namespace drydock {

void PieceSet::Add(const Range& range) {
  if (range.count() <= 0) return;
  std::vector<Range> merged;
  Range grown = range;
  for (const Range& each : ranges_) {
    if (each.end < grown.begin || each.begin > grown.end) {
      merged.push_back(each);
    } else {
      grown = {std::min(grown.begin, each.begin), std::max(grown.end, each.end)};
    }
  }
  const auto after = std::find_if(merged.begin(), merged.end(),
                                  [&grown](const Range& each) { return each.begin > grown.end; });
  merged.insert(after, grown);
  ranges_ = std::move(merged);
}

bool PieceSet::Has(int64_t piece) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [piece](const Range& range) { return range.Has(piece); });
}

int64_t PieceSet::At(int64_t n) const {
  for (const Range& range : ranges_) {
    if (n < range.count()) return range.begin + n;
    n -= range.count();
  }
  CHECK_NOTE(false, "a switch gets more sums than its children take");
  return -1;
}

int64_t PieceSet::count() const {
  int64_t total = 0;
  for (const Range& range : ranges_) total += range.count();
  return total;
}

Aggregation::Aggregation(const Topology& topology)
    : topology_(&topology), graph_(std::make_unique<SwitchGraph>(topology)) {}

Status Aggregation::Add(uint64_t call, const Plan& plan, uint32_t group,
                        const std::vector<int>& members) {
  auto& known = groups_[{&plan, group}];
  if (known == nullptr) {
    ASSIGN_OR_RETURN(GroupReductions resolved, Resolve(plan, group, members));
    known = std::make_unique<GroupReductions>(std::move(resolved));
  }
  calls_[call] = known.get();
  return OkStatus();
}

Result<Aggregation::GroupReductions> Aggregation::Resolve(const Plan& plan, uint32_t group,
                                                          const std::vector<int>& members) {
  if (!topology_->fabric.sharp.has_value()) {
    return Error(
        fmt::format("2-flows.pb: the plan '{}' reduces in the switches, but the cluster's "
                    "'fabric' has no 'sharp'",
                    plan.name));
  }
  GroupReductions out;
  for (const Connection& c : plan.connections) out.of_connection.push_back(c.reduction);
  for (const PlanReduction& reduction : ReductionsOf(plan, PieceUnit::kSlice)) {
    if (reduction.ends.empty()) {
      out.reductions.emplace_back();
      continue;
    }
    std::vector<NicPlace> nics;
    for (const ReductionEnd& end : reduction.ends) {
      nics.push_back({members[end.member], plan.connections[end.from_switch].recv_nic});
    }
    ASSIGN_OR_RETURN(const AggregationTree* tree, TreeFor(nics));
    const uint32_t name = reduction.ends.front().from_switch;
    const uint32_t flow =
        FlowName(FlowName(group + 1, static_cast<uint32_t>(out.reductions.size()) + 1), name);
    out.reductions.push_back({PlacesOn(*tree, reduction, nics, name, flow)});
  }
  return out;
}

// In the list, a node of a tree comes after its parent.
std::vector<AggregationPlace> Aggregation::PlacesOn(const AggregationTree& tree,
                                                    const PlanReduction& reduction,
                                                    const std::vector<NicPlace>& nics,
                                                    uint32_t name, uint32_t flow) {
  std::vector<AggregationPlace> places(tree.nodes.size());
  std::vector<PieceSet> below(tree.nodes.size());
  for (size_t i = 0; i < nics.size(); ++i) {
    below[static_cast<size_t>(tree.node_of[i])].Add(reduction.ends[i].receives);
  }
  for (size_t n = tree.nodes.size(); n-- > 1;) {
    below[static_cast<size_t>(tree.nodes[n].parent)].Add(below[n]);
  }
  for (size_t n = 0; n < tree.nodes.size(); ++n) {
    AggregationPlace& place = places[n];
    place.node = NodeAt(tree.nodes[n].switch_index);
    place.flow = flow;
    place.pieces = reduction.pieces;
    if (tree.nodes[n].parent < 0) continue;
    AggregationPlace& parent = places[static_cast<size_t>(tree.nodes[n].parent)];
    place.parent = {parent.node, 0, name, below[n]};
    parent.children.push_back({place.node, 0, name, below[n]});
  }
  for (size_t i = 0; i < nics.size(); ++i) {
    PieceSet takes;
    takes.Add(reduction.ends[i].receives);
    places[static_cast<size_t>(tree.node_of[i])].children.push_back(
        {nics[i].host, static_cast<int16_t>(nics[i].nic), reduction.ends[i].from_switch, takes});
  }
  return places;
}

HostId Aggregation::NodeAt(int switch_index) {
  const auto next = static_cast<HostId>(topology_->host_count() + node_count());
  const auto [entry, added] = node_of_switch_.emplace(switch_index, next);
  if (added) switches_.push_back(switch_index);
  return entry->second;
}

Result<const AggregationTree*> Aggregation::TreeFor(const std::vector<NicPlace>& nics) {
  const auto known = trees_.find(nics);
  if (known != trees_.end()) return &known->second;
  ASSIGN_OR_RETURN(AggregationTree tree, graph_->TreeFor(nics));
  return &trees_.emplace(nics, std::move(tree)).first->second;
}

Topology Aggregation::WithNodes() const {
  Topology out = *topology_;
  const Time delay = Time::Ps(std::max<int64_t>(topology_->fabric.sharp->latency.ps() / 2, 1));
  for (const int switch_index : switches_) {
    int64_t rate = 0, cables = 0;
    for (const FabricLink& link : topology_->fabric.links) {
      for (const LinkEnd& end : {link.a, link.b}) {
        if (!end.is_switch || end.index != switch_index) continue;
        rate += link.rate.bits_per_second();
        ++cables;
      }
    }
    HostKind kind;
    kind.name =
        "aggregation node of " + topology_->fabric.switches[static_cast<size_t>(switch_index)].name;
    kind.nics.count = 1;
    kind.nics.rate = Bandwidth::BitsPerSecond(rate * cables);
    out.fabric.links.push_back(
        {{false, out.host_count(), 0}, {true, switch_index, 0}, kind.nics.rate, delay});
    out.hosts.push_back(static_cast<int>(out.host_kinds.size()));
    out.host_kinds.push_back(std::move(kind));
  }
  return out;
}

HostId Aggregation::Above(int host, int nic) const {
  const auto found = node_of_switch_.find(graph_->SwitchOf({host, nic}));
  CHECK(found != node_of_switch_.end());
  return found->second;
}

const AggregationPlace& Aggregation::PlaceOf(HostId node, uint64_t call,
                                             uint32_t connection) const {
  const auto found = calls_.find(call);
  CHECK_NOTE(found != calls_.end(), "a switch does not know the call of a message");
  const GroupReductions& group = *found->second;
  const int16_t reduction = group.of_connection[connection];
  CHECK(reduction >= 0);
  for (const AggregationPlace& place : group.reductions[static_cast<size_t>(reduction)].places) {
    if (place.node == node) return place;
  }
  CHECK_NOTE(false, "a message goes to a switch outside the tree");
  return group.reductions.front().places.front();
}

}  // namespace drydock
