// Ranks that cannot be told apart by what happens to them: they run the same program, and whatever
// communicator it uses has the same classes of ranks in it. They reach the same ops, so what is
// true of one is true of all, and a check looks at one of each class instead of at every rank.
//
// Found by refinement: beginning with "runs the same program", classes are split by the classes
// they meet until nothing splits. Ranks of a 1024-GPU run fall into a few dozen.
#ifndef DRYDOCK_CORE_MODEL_CALLS_RANK_CLASSES_H_
#define DRYDOCK_CORE_MODEL_CALLS_RANK_CLASSES_H_

#include <vector>

#include "core/model/workload.h"

namespace drydock {

// A place in a communicator, as its members are told apart: who, and by which of the rank's roles.
struct Seat {
  int rank_class = 0;
  std::vector<int> roles;  // sorted: those under which the rank's program uses the communicator
  int position = -1;       // of the member, where positions count; else -1
  auto operator<=>(const Seat&) const = default;
};

// Communicators with the same seats.
struct GroupKind {
  std::vector<Seat> seats;  // sorted, each once
};

struct RankClasses {
  std::vector<int> class_of_rank;
  std::vector<int> first_rank;            // by class
  std::vector<GroupKind> kinds;           // in use
  std::vector<int> kind_of_group;         // -1: no program uses it
  std::vector<std::vector<int>> seat_of;  // [class][role]: index into its kind's seats, or -1
};

// `positions_count`, by group: its members wait for one another depending on where they sit (a
// broadcast's chain; who sends, who receives). In groups of two they always count.
// In these groups at least: some program makes calls among some of the members there.
std::vector<bool> GroupsWithMessages(const Workload& workload);
RankClasses FindRankClasses(const Workload& workload, const std::vector<bool>& positions_count);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_RANK_CLASSES_H_
