// The equivalence classes of the hosts of a run. Hosts are equivalent if their GPUs and NICs run
// the same programs and each of their calls connects them in the same manner to hosts that are
// again equivalent: the coarsest equitable partition of the hosts and their connections.
//
// The connections of a host therefore correspond one to one to the connections of every equivalent
// host, and all of them carry the same traffic at the same times. The graph that has one host of
// each class is a quotient of the cluster: each representative preserves the neighborhood of the
// hosts that it represents.
#ifndef DRYDOCK_EXEC_ENGINE_FOLDING_HOST_EQUIVALENCE_CLASSES_H_
#define DRYDOCK_EXEC_ENGINE_FOLDING_HOST_EQUIVALENCE_CLASSES_H_

#include <cstdint>
#include <vector>

#include "core/model/variation.h"
#include "exec-engine/index/plan_ends.h"
#include "exec-engine/index/replay_index.h"

namespace drydock {

struct HostEquivalenceClasses {
  std::vector<int> class_of_host;  // counted from 0 in the order of their first hosts
  int count = 0;
  // By Workload::uses. A call is uneven if its members do different work that the classes ignore:
  // only the set of its members' hosts affects the classes. Its plan is spread if the classes hold
  // for the plan with Spread patterns (plan_ends.h).
  std::vector<bool> uneven, spread;
};

// Finds the classes by partition refinement. If `relaxed`, three differences do not separate hosts:
// the lengths of the paths between them; which chunks of a ring are the short ones; and the work of
// the members of a short call, in which the inner nodes and the leaves of a tree differ although
// their hosts are equal in all else.
HostEquivalenceClasses FindHostEquivalenceClasses(const ReplayIndex& index,
                                                  const Variation& variation, bool relaxed,
                                                  PlanEndsTable* ends);

// Returns the first role in which the rank is in the group; -1 if in none.
int RoleIn(const Workload& workload, int rank, uint32_t group);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_FOLDING_HOST_EQUIVALENCE_CLASSES_H_
