// Whom a call's members wait for, as far as it can be told from its plan alone.
//
// A member cannot end before those whose data it takes have begun, nor before those have begun that
// must make room because what it sends them does not fit into the buffers of the connection.
#ifndef DRYDOCK_CORE_MODEL_DEADLOCK_WAIT_SETS_H_
#define DRYDOCK_CORE_MODEL_DEADLOCK_WAIT_SETS_H_

#include <cstdint>
#include <vector>

#include "core/model/flow_plan.h"

namespace drydock {

struct WaitSets {
  // Everybody waits for everybody: all-reduce and the like. Then the rest is empty.
  bool everybody = true;
  // By member, sorted: whom it waits for, directly or through others, itself left out.
  std::vector<std::vector<int>> members;
  // The most slices that one connection carries, and how many its buffer holds: whether a message
  // fits beside others that are on their way.
  int64_t slices = 0;
  int64_t slots = 0;
};

WaitSets WaitSetsOf(const Plan& plan);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_DEADLOCK_WAIT_SETS_H_
