#include "capture/classes/world_groups.h"

#include <algorithm>

namespace drydock::capture {

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
      std::vector<Membership>& own = of_rank_[static_cast<size_t>(group.ranks[position])];
      const auto ordinal = std::count_if(own.begin(), own.end(), [&](const Membership& earlier) {
        return earlier.kind.description == group.description;
      });
      own.push_back(
          {{group.description, static_cast<int>(ordinal)}, index, static_cast<int>(position)});
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
