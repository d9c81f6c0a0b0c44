#include "report/facts/notes.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace drydock {
namespace {

std::string IdleGpusNote(const Inputs& inputs) {
  const int ranks = inputs.workload.rank_count();
  int working = 0;
  for (int rank = 0; rank < ranks; ++rank) working += inputs.works(rank) ? 1 : 0;
  if (working == ranks) return "";
  return fmt::format(
      "{} of {} GPUs run the program; rates per GPU and shares of the time leave out the others",
      working, ranks);
}

// Which NICs reach each other over switches below a tier.
class Islands {
 public:
  Islands(const Fabric& fabric, int tier) {
    parent_.resize(fabric.switches.size());
    std::iota(parent_.begin(), parent_.end(), 0);
    for (const FabricLink& link : fabric.links) {
      const int a = NodeOf(link.a, fabric, tier), b = NodeOf(link.b, fabric, tier);
      if (a >= 0 && b >= 0) parent_[static_cast<size_t>(RootOf(a))] = RootOf(b);
    }
  }

  bool Joins(int host_a, int nic_a, int host_b, int nic_b) {
    const auto a = nics_.find({host_a, nic_a}), b = nics_.find({host_b, nic_b});
    return a != nics_.end() && b != nics_.end() && RootOf(a->second) == RootOf(b->second);
  }

 private:
  // -1: a switch of the tier or above.
  int NodeOf(const LinkEnd& end, const Fabric& fabric, int tier) {
    if (end.is_switch) {
      return fabric.switches[static_cast<size_t>(end.index)].tier < tier ? end.index : -1;
    }
    const auto [nic, is_new] =
        nics_.emplace(std::make_pair(end.index, end.nic), static_cast<int>(parent_.size()));
    if (is_new) parent_.push_back(nic->second);
    return nic->second;
  }

  int RootOf(int node) {
    int* parent = &parent_[static_cast<size_t>(node)];
    if (*parent != node) *parent = RootOf(*parent);
    return parent_[static_cast<size_t>(node)];
  }

  std::vector<int> parent_;  // by node: switches, then NICs
  std::map<std::pair<int, int>, int> nics_;
};

// Whether any message goes over a switch of the tier or above.
bool MessagesCross(const Inputs& inputs, int tier) {
  const Workload& workload = inputs.workload;
  const Placement placement(workload.topology);
  Islands islands(workload.topology.fabric, tier);
  for (const Workload::Use& use : workload.uses) {
    const Plan* plan = inputs.plan_of(use.call, static_cast<int>(use.group));
    if (plan == nullptr) continue;
    const std::vector<int>& ranks = workload.groups[use.group].ranks;
    for (const Connection& each : plan->connections) {
      if (each.link == LinkKind::kToSwitch || each.link == LinkKind::kFromSwitch) return true;
      if (each.link != LinkKind::kNet) continue;
      const int from = placement.of(ranks[each.from]).host, to = placement.of(ranks[each.to]).host;
      if (!islands.Joins(from, each.send_nic, to, each.recv_nic)) return true;
    }
  }
  return false;
}

// The layers of switches of a cluster file, by tier.
constexpr std::array<std::string_view, 3> kLayers = {"leaf", "spine", "core"};

// Returns the tier of a key of fabric.spine or fabric.core; 0: it is of something else.
int TierOf(const std::string& replaced) {
  for (size_t tier = 1; tier < kLayers.size(); ++tier) {
    if (replaced.starts_with(fmt::format("fabric.{}.", kLayers[tier]))) {
      return static_cast<int>(tier);
    }
  }
  return 0;
}

void AddIdleValues(const Inputs& inputs, std::vector<std::string>* notes) {
  for (const ReplacedValue& each : inputs.workload.replaced) {
    if (!each.changes) {
      notes->push_back(
          fmt::format("--set {} changes nothing: the run is the same without it", each.text));
      continue;
    }
    const int tier = TierOf(each.text);
    if (tier == 0 || MessagesCross(inputs, tier)) continue;
    notes->push_back(fmt::format("--set {} changes nothing: no message of this run crosses a {}",
                                 each.text, kLayers[static_cast<size_t>(tier)]));
  }
}

// Planes share the rate of a NIC, each rounded down to a bit.
constexpr int64_t kMostPlanes = 8;

// A NIC sends no faster than its cables, which run at the rate of the switch's ports.
void AddSlowPorts(const Topology& topology, std::vector<std::string>* notes) {
  std::map<std::pair<int, int>, int64_t> cables;  // bits/s, by host and NIC
  for (const FabricLink& link : topology.fabric.links) {
    for (const LinkEnd* end : {&link.a, &link.b}) {
      if (!end->is_switch) {
        cables[{end->index, end->nic}] += link.rate.bits_per_second();
      }
    }
  }
  std::set<int> told;
  for (const auto& [nic, rate] : cables) {
    const int index = topology.hosts[static_cast<size_t>(nic.first)];
    const HostKind& kind = topology.host_kinds[static_cast<size_t>(index)];
    if (rate + kMostPlanes >= kind.nics.rate.bits_per_second() || !told.insert(index).second)
      continue;
    notes->push_back(
        fmt::format("NICs of {} send at {}, the rate of their cables and of the "
                    "switch's ports, not at their own {}",
                    kind.name, ToString(Bandwidth::BitsPerSecond(rate)), ToString(kind.nics.rate)));
  }
}

}  // namespace

std::vector<std::string> NotesOf(const Inputs& inputs) {
  std::vector<std::string> notes;
  if (const std::string note = IdleGpusNote(inputs); !note.empty()) notes.push_back(note);
  AddSlowPorts(inputs.workload.topology, &notes);
  AddIdleValues(inputs, &notes);
  return notes;
}

}  // namespace drydock
