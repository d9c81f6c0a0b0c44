#include "capture/classes/world_groups.h"

#include <algorithm>

namespace drydock::capture {

std::vector<std::optional<Membership>> MembershipsIn(const std::vector<TapeGroup>& groups,
                                                     int rank) {
  std::vector<std::optional<Membership>> all;
  GroupKinds kinds;
  for (const TapeGroup& group : groups) {
    std::optional<Membership>& own = all.emplace_back();
    const auto at = std::find(group.ranks.begin(), group.ranks.end(), rank);
    if (at == group.ranks.end()) continue;
    own = Membership{kinds.Next(group.description), static_cast<int>(all.size()) - 1,
                     static_cast<int>(at - group.ranks.begin())};
  }
  return all;
}

bool WorldGroups::Add(const std::vector<TapeGroup>& groups) {
  std::map<std::pair<std::string, std::vector<int>>, size_t> seen;
  const size_t before = groups_.size();
  for (const TapeGroup& group : groups) {
    const std::pair key(group.description, group.ranks);
    std::vector<int>& same = known_[key];
    if (seen[key]++ < same.size()) continue;
    const auto index = static_cast<int>(groups_.size());
    same.push_back(index);
    groups_.push_back(group);
    for (size_t position = 0; position < group.ranks.size(); ++position) {
      // A tape with such a rank is refused.
      if (static_cast<size_t>(group.ranks[position]) >= of_rank_.size()) continue;
      const auto rank = static_cast<size_t>(group.ranks[position]);
      of_rank_[rank].push_back(
          {kinds_[rank].Next(group.description), index, static_cast<int>(position)});
    }
  }
  return groups_.size() > before;
}

const Membership* WorldGroups::Find(int rank, const GroupKind& kind) const {
  for (const Membership& membership : Of(rank)) {
    if (membership.kind == kind) return &membership;
  }
  return nullptr;
}

}  // namespace drydock::capture
