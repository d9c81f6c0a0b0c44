// How a call's elements divide among the members of its group.
#ifndef DRYDOCK_SIMCCL_PLANNER_CALL_SHAPE_H_
#define DRYDOCK_SIMCCL_PLANNER_CALL_SHAPE_H_

#include <cstdint>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

// Returns the number of equal parts that make up the call's count: one per member, or one.
int64_t PartsOf(const CommCall& call);

// Returns an error unless the call, and each call of a grouped one, is made for a group of
// `members` members and divides into its parts.
Status CheckCallShape(const CommCall& call, int members);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PLANNER_CALL_SHAPE_H_
