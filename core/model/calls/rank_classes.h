// Equivalence classes of ranks: ranks of one class run the same program, and the groups that it
// uses have members of the same classes. Ranks of one class reach the same ops, so a check looks at
// one rank of each class instead of at every rank.
//
// Partition refinement finds the classes. It begins with the ranks that run the same program and
// splits classes by the classes of the members in their groups. The ranks of a 1024-GPU run fall
// into a few dozen classes.
#ifndef DRYDOCK_CORE_MODEL_CALLS_RANK_CLASSES_H_
#define DRYDOCK_CORE_MODEL_CALLS_RANK_CLASSES_H_

#include <vector>

#include "core/model/workload.h"

namespace drydock {

// What distinguishes a member of a group from the other members.
struct MemberClass {
  int rank_class = 0;
  std::vector<int> roles;  // by which the rank's program uses the group; sorted
  int position = -1;       // in groups whose positions matter; else -1
  auto operator<=>(const MemberClass&) const = default;
};

// Groups with members of the same classes.
struct GroupClass {
  std::vector<MemberClass> members;  // sorted, each once
};

struct RankClasses {
  std::vector<int> class_of_rank;
  std::vector<int> first_rank;                    // by class
  std::vector<GroupClass> groups;                 // that programs use
  std::vector<int> class_of_group;                // into `groups`; -1: no program uses the group
  std::vector<std::vector<int>> member_class_of;  // [class][role]: into GroupClass::members, or -1
};

// Returns, by group, whether some program makes calls in it that involve a subset of the members.
// In these groups positions matter.
std::vector<bool> GroupsWithMessages(const Workload& workload);

// `positions_matter`, by group: members wait for one another depending on their positions, as in
// the chain of a broadcast, or as sender and receiver. In groups of two, positions always matter.
RankClasses FindRankClasses(const Workload& workload, const std::vector<bool>& positions_matter);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_RANK_CLASSES_H_
