// The times of calls inside one host that run while no other call uses their ports. Such a call is
// played alone, in a separate engine, or its times are looked up: the same plan with the same
// offsets between arrivals has the same times, here and on every equivalent host (known_times.h).
// Not thread-safe; one per host.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_LONE_CALLS_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_LONE_CALLS_H_

#include <cstdint>
#include <memory>

#include "exec-engine/replay/host_planner.h"

namespace drydock {

class LoneCalls {
 public:
  // `ports` outlives this.
  LoneCalls(HostId host, const PortMap& ports);
  ~LoneCalls();

  // The times of all members, counted from `from`.
  struct Answer {
    const KnownTimes::Times* times = nullptr;
    Time from;
  };
  // `offsets`: each member's arrival, counted from the first arrival at `first`. The last member
  // arrives at `last`.
  Answer TimesFor(HostPlan* plan, const KnownTimes::Offsets& offsets, Time first, Time last);

  // The same if the call rested when the last member arrived, so that the other arrivals do not
  // matter. Members' times are counted from `last`.
  Answer TimesAfterRest(HostPlan* plan, const KnownTimes::Offsets& offsets, Time last);

  // Counted as if no host used the results of another, so that the counters do not depend on the
  // number of processes.
  int64_t looked_up() const { return looked_up_; }
  int64_t played() const { return played_; }
  int64_t slices() const { return slices_; }

 private:
  class Player;
  std::unique_ptr<Player> player_;
  int64_t looked_up_ = 0, played_ = 0, slices_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_LONE_CALLS_H_
