// What waits at the links of a fabric, first come first served: bytes that left their NIC at its
// pace and found their link with more to carry than it can. In between two changes of rates a
// backlog grows or shrinks evenly, so that what comes in now waits for as long as the link takes
// for all that came before.
//
// Times in whole picoseconds, rates in whole bits per second. Not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_QUEUES_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_QUEUES_H_

#include <cstdint>
#include <vector>

#include "core/base/units.h"

namespace drydock {

class FluidQueues {
 public:
  // Rates in bits per second, by link; 0 is a link that is down.
  explicit FluidQueues(const std::vector<int64_t>& capacities);

  // `change` more of it comes to the link from now on.
  void Arrive(uint32_t link, int64_t change, Time now);
  void SetCapacity(uint32_t link, int64_t bits_per_second, Time now);

  // How long what comes to the link now waits there. Its capacity must not be 0.
  Time Wait(uint32_t link, Time now);
  // What the link spends on it: all it has while something waits.
  int64_t Taken(uint32_t link, Time now);
  // When nothing waits any more if nothing changes; Time::Max() if that is never.
  Time Empties(uint32_t link, Time now);

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

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_QUEUES_H_
