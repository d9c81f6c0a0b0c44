// The backlogs in front of the links of a fabric: first-come first-served queues of the bytes that
// arrive faster than their link can send. Between two changes of rates a backlog grows or shrinks
// linearly. A byte that arrives waits for as long as the link needs for the backlog before it.
//
// Times in whole picoseconds, rates in whole bits per second. Not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_BACKLOGS_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_BACKLOGS_H_

#include <cstdint>
#include <vector>

#include "core/base/units.h"

namespace drydock {

class FluidBacklogs {
 public:
  // Rates in bits per second, by link; 0 is a link that is down.
  explicit FluidBacklogs(const std::vector<int64_t>& capacities);

  // The rate of arrival at the link changes by `change` from now on.
  void Arrive(uint32_t link, int64_t change, Time now);
  void SetCapacity(uint32_t link, int64_t bits_per_second, Time now);

  // Returns how long a byte that arrives now waits. REQUIRES: the capacity is above 0.
  Time Wait(uint32_t link, Time now);
  // Returns the rate at which the link sends these bytes: its capacity while it has a backlog.
  int64_t SendingRate(uint32_t link, Time now);
  // Returns when the backlog is gone if no rate changes; Time::Max() if never.
  Time DrainTime(uint32_t link, Time now);

 private:
  struct Queue {
    int64_t capacity = 0, arriving = 0;
    Time since;            // when `backlog` held
    __int128 backlog = 0;  // in bits times picoseconds per second
  };
  Queue& Advance(uint32_t link, Time now);

  std::vector<Queue> queues_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_BACKLOGS_H_
