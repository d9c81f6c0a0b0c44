// The process groups of a captured program, put together from the tapes of single ranks. Most
// programs make every group on every rank, so that one tape lists them all; others make a group on
// its members only.
#ifndef DRYDOCK_CAPTURE_CLASSES_WORLD_GROUPS_H_
#define DRYDOCK_CAPTURE_CLASSES_WORLD_GROUPS_H_

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/tape/rank_tape.h"

namespace drydock::capture {

// What a group is to a rank: the how-manieth of this description that the rank is in. Ranks of one
// program have the same kinds, whatever their groups.
struct GroupKind {
  std::string description;
  int ordinal = 0;
  auto operator<=>(const GroupKind&) const = default;
};

// A rank's place in a group.
struct Membership {
  GroupKind kind;
  int group = 0;     // index into the groups
  int position = 0;  // in the group
};

// Gives the groups that a rank is in their kinds, in the order in which its program makes them.
class GroupKinds {
 public:
  GroupKind Next(const std::string& description) { return {description, count_[description]++}; }

 private:
  std::map<std::string, int> count_;
};

// Returns the rank's place in each of a tape's groups; nothing where it is not in it.
std::vector<std::optional<Membership>> MembershipsIn(const std::vector<TapeGroup>& groups,
                                                     int rank);

class WorldGroups {
 public:
  explicit WorldGroups(int world)
      : of_rank_(static_cast<size_t>(world)), kinds_(static_cast<size_t>(world)) {}

  // Adds the groups of a tape that are not known yet. Returns true if there are any.
  bool Add(const std::vector<TapeGroup>& groups);

  const std::vector<TapeGroup>& groups() const { return groups_; }
  int size_of(int group) const {
    return static_cast<int>(groups_[static_cast<size_t>(group)].ranks.size());
  }
  // In the order in which the program makes them.
  const std::vector<Membership>& Of(int rank) const { return of_rank_[static_cast<size_t>(rank)]; }
  // Null: the rank is in no group of this kind.
  const Membership* Find(int rank, const GroupKind& kind) const;

 private:
  std::vector<TapeGroup> groups_;
  // Groups of one description and the same ranks, in order.
  std::map<std::pair<std::string, std::vector<int>>, std::vector<int>> known_;
  std::vector<std::vector<Membership>> of_rank_;
  std::vector<GroupKinds> kinds_;  // by rank
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_CLASSES_WORLD_GROUPS_H_
