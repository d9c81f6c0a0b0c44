// Which hosts of a run are alike: the same GPUs and NICs run the same programs, and each call joins
// them in the same way to hosts that are alike again. Found by refinement: hosts begin with what
// they are by themselves, and are told apart by whom they are joined to until nothing changes.
//
// A host's connections then lead, one by one, to those of hosts that are alike, so that what one of
// them does all of them do: the partition is an equitable one, and the cluster covers the smaller
// one that has a host of each kind.
#ifndef DRYDOCK_EXEC_ENGINE_FOLDING_ALIKE_HOSTS_H_
#define DRYDOCK_EXEC_ENGINE_FOLDING_ALIKE_HOSTS_H_

#include <cstdint>
#include <vector>

#include "core/model/variation.h"
#include "exec-engine/index/plan_ends.h"
#include "exec-engine/index/replay_index.h"

namespace drydock {

struct AlikeHosts {
  std::vector<int> kind;  // by host, counted from 0 in the order of hosts
  int kinds = 0;
  // By Workload::uses.
  std::vector<bool> uneven;  // all that counts is whose ranks are members
  std::vector<bool> spread;  // as the plan would be with its patterns spread (plan_ends.h)
};

// `relaxed`: three things make no difference: how long the ways between hosts are; whose chunks on
// a ring are the short ones; and, in a short call, what each member does: in a tree, inner nodes
// and leaves differ that are alike in all else.
AlikeHosts FindAlikeHosts(const ReplayIndex& index, const Variation& variation, bool relaxed,
                          PlanEndsTable* ends);

// The first role in which the rank is in the group; -1 if in none.
int RoleIn(const Workload& workload, int rank, uint32_t group);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_FOLDING_ALIKE_HOSTS_H_
