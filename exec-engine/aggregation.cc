#include "exec-engine/aggregation.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/check.h"
#include "exec-engine/flow_name.h"

namespace drydock {
namespace {

// Who takes part in one reduction of a plan.
struct Contribution {
  NicPlace nic;
  uint32_t result = 0;  // the connection by which the sum comes back
};

std::vector<std::vector<Contribution>> ContributionsOf(const Plan& plan,
                                                       const std::vector<int>& members) {
  std::vector<std::vector<Contribution>> out;
  for (uint32_t c = 0; c < plan.connections.size(); ++c) {
    const Connection& connection = plan.connections[c];
    if (connection.link != LinkKind::kFromSwitch) continue;
    const auto reduction = static_cast<size_t>(connection.reduction);
    if (reduction >= out.size()) out.resize(reduction + 1);
    out[reduction].push_back({{members[connection.to], connection.recv_nic}, c});
  }
  return out;
}

}  // namespace

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
  for (const std::vector<Contribution>& contributions : ContributionsOf(plan, members)) {
    std::vector<NicPlace> nics;
    for (const Contribution& contribution : contributions) nics.push_back(contribution.nic);
    ASSIGN_OR_RETURN(const AggregationTree* tree, TreeFor(nics));
    std::vector<AggregationPlace>& places = out.reductions.emplace_back().places;
    const uint32_t name = contributions.front().result;
    for (const AggregationTree::Node& node : tree->nodes) {
      AggregationPlace& place = places.emplace_back();
      place.node = NodeAt(node.switch_index);
      place.flow =
          FlowName(FlowName(group + 1, static_cast<uint32_t>(out.reductions.size())), name);
      if (node.parent < 0) continue;
      AggregationPlace& parent = places[static_cast<size_t>(node.parent)];
      place.parent = {parent.node, 0, name};
      parent.children.push_back({place.node, 0, name});
    }
    for (size_t i = 0; i < contributions.size(); ++i) {
      const NicPlace& nic = contributions[i].nic;
      places[static_cast<size_t>(tree->node_of[i])].children.push_back(
          {nic.host, static_cast<int16_t>(nic.nic), contributions[i].result});
    }
  }
  return out;
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
  CHECK_NOTE(found != calls_.end(), "a message to a switch for a call that it does not know");
  const GroupReductions& group = *found->second;
  const int16_t reduction = group.of_connection[connection];
  CHECK(reduction >= 0);
  for (const AggregationPlace& place : group.reductions[static_cast<size_t>(reduction)].places) {
    if (place.node == node) return place;
  }
  CHECK_NOTE(false, "a message to a switch that is not in the tree");
  return group.reductions.front().places.front();
}

}  // namespace drydock
