// The members that each member of a call waits for, as far as the plan alone determines them.
//
// A member cannot end before all members whose data it receives have begun. If its data exceeds the
// buffer of a connection, the member also cannot end before the receiver, which must free slots,
// has begun.
#ifndef DRYDOCK_CORE_MODEL_DEADLOCK_WAIT_SETS_H_
#define DRYDOCK_CORE_MODEL_DEADLOCK_WAIT_SETS_H_

#include <cstdint>
#include <vector>

#include "core/model/flow_plan.h"

namespace drydock {

struct WaitSets {
  // All members wait for all members, as in an all-reduce; then `members` is empty.
  bool all_members = true;
  // By member, sorted: the other members that the member waits for, directly or through others.
  std::vector<std::vector<int>> members;
  // The maximum number of slices that one connection carries, and the slots of its buffer. The two
  // decide whether a message fits into the buffer together with others in flight.
  int64_t slices = 0;
  int64_t slots = 0;
};

WaitSets WaitSetsOf(const Plan& plan);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_DEADLOCK_WAIT_SETS_H_
