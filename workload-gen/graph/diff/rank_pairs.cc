#include "workload-gen/graph/diff/rank_pairs.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace drydock {
namespace {

// What an op of communication refers to, without its size.
struct Target {
  uint8_t role = 0;
  OpKind kind = OpKind::kCollective;
  int peer = -1;         // position of the other end of a message
  bool grouped = false;  // the parts depend on the rank's own position
  auto operator<=>(const Target&) const = default;
};

std::vector<std::vector<Target>> TargetsOf(const Workload& w) {
  std::vector<std::vector<Target>> out;
  for (const Program& program : w.programs) {
    std::set<Target> targets;
    for (const Op& op : program.ops) {
      if (!IsCommunication(op.kind)) continue;
      const CommCall& call = w.calls[op.work];
      targets.insert({op.role, op.kind,
                      op.kind == OpKind::kSend   ? call.peer
                      : op.kind == OpKind::kRecv ? call.root
                                                 : -1,
                      call.collective == CollectiveType::kGrouped});
    }
    out.emplace_back(targets.begin(), targets.end());
  }
  return out;
}

// Numbers of lists of members that both workloads share.
std::vector<int64_t> NumberGroups(const Workload& w, std::map<std::vector<int>, int64_t>* known) {
  std::vector<int64_t> numbers;
  for (const Group& group : w.groups) {
    numbers.push_back(
        known->emplace(group.ranks, static_cast<int64_t>(known->size())).first->second);
  }
  return numbers;
}

// Ranks are told apart from numbers of groups by their sign.
void AppendTargets(const Workload& w, const std::vector<Target>& targets,
                   const std::vector<int64_t>& group_numbers, int rank, std::vector<int64_t>* out) {
  for (const Target& target : targets) {
    const int group = w.group_of_rank[target.role][static_cast<size_t>(rank)];
    if (group < 0) {
      out->push_back(INT64_MAX);
      continue;
    }
    const std::vector<int>& members = w.groups[static_cast<size_t>(group)].ranks;
    if (target.peer >= 0) {
      const auto at = static_cast<size_t>(target.peer);
      out->push_back(at < members.size() ? -1 - int64_t{members[at]} : INT64_MAX);
      continue;
    }
    out->push_back(group_numbers[static_cast<size_t>(group)]);
    if (target.grouped) {
      // Positions are compared as they are, so that they differ from all renamed numbers.
      const auto own = std::find(members.begin(), members.end(), rank);
      out->push_back(INT64_MAX - 1 - (own - members.begin()));
    }
  }
}

// Gives equal numbers equal names, by first appearance: groups of other ranks that correspond in
// the same way get the same names.
void Rename(std::vector<int64_t>* numbers) {
  std::unordered_map<int64_t, int64_t> names;
  for (int64_t& number : *numbers) {
    if (number > INT64_MAX / 2) continue;
    number = names.emplace(number, static_cast<int64_t>(names.size())).first->second;
  }
}

}  // namespace

std::vector<RankPair> RankPairs(const Workload& a, const Workload& b) {
  std::map<std::vector<int>, int64_t> known;
  const std::vector<int64_t> groups_a = NumberGroups(a, &known), groups_b = NumberGroups(b, &known);
  const auto targets_a = TargetsOf(a), targets_b = TargetsOf(b);
  std::map<std::tuple<int, int, std::vector<int64_t>>, size_t> pair_of;
  std::vector<RankPair> pairs;
  const int ranks = std::min(a.rank_count(), b.rank_count());
  for (int rank = 0; rank < ranks; ++rank) {
    const int ca = a.class_of_rank[static_cast<size_t>(rank)];
    const int cb = b.class_of_rank[static_cast<size_t>(rank)];
    std::vector<int64_t> numbers;
    AppendTargets(a, targets_a[static_cast<size_t>(ca)], groups_a, rank, &numbers);
    AppendTargets(b, targets_b[static_cast<size_t>(cb)], groups_b, rank, &numbers);
    Rename(&numbers);
    const auto [entry, is_new] = pair_of.try_emplace({ca, cb, std::move(numbers)}, pairs.size());
    if (is_new) pairs.push_back({rank, 0});
    ++pairs[entry->second].ranks;
  }
  return pairs;
}

}  // namespace drydock
