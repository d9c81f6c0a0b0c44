// What is known of calls that were played on their own: how long each member takes, by how far
// apart the members arrive. Hosts of a kind with members on the same GPUs, running the same plan,
// are alike: what one of them has played, the others look up. Shared by all hosts and threads of a
// process; a call is played once, so what is known never depends on who asks first.
//
// Often all that matters is when the last member arrives: a sum that the switches make, or a ring
// whose every way leads through everybody, has little to do before. A plan for which this holds in
// the cases that must show it (all at once; each in turn so late that the others have done what
// they could; arrivals spread at random over spans from a 64th of the call to four times as long)
// takes the same time from the last arrival in all of them, and is taken to do so always.
#ifndef DRYDOCK_EXEC_ENGINE_INDEX_KNOWN_TIMES_H_
#define DRYDOCK_EXEC_ENGINE_INDEX_KNOWN_TIMES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/base/units.h"
#include "core/containers/hash.h"
#include "core/model/flow_plan.h"

namespace drydock {

class KnownTimes {
 public:
  using Offsets = std::vector<int64_t>;  // by local member, from the first arrival, ps
  struct Times {
    std::vector<Time> end, ready;  // by local member, from the first arrival
    int64_t slices = 0;            // that were moved to find out
  };

  // Of one plan on hosts that are alike.
  class OfPlan {
   public:
    using Play = std::function<Times(const Offsets&)>;
    // Plays the call if nobody has. The result lasts.
    const Times& Find(const Offsets& offsets, const Play& play);
    // The times from the last arrival, if nothing else matters; else null. Plays some fifty cases
    // the first time.
    const Times* FromLastArrival(size_t members, const Play& play);

   private:
    static bool OnlyTheLastMatters(size_t members, const Times& together, const Play& play);

    std::mutex mutex_;
    std::unordered_map<Offsets, std::unique_ptr<const Times>, RangeHash> times_;
    bool examined_ = false;
    std::unique_ptr<const Times> from_last_arrival_;  // null where more than that matters
  };

  // `gpus`: of the members, all of which live on the host. The result lasts as long as this.
  OfPlan* For(const Plan* plan, int host_kind, std::vector<int> gpus);

 private:
  std::mutex mutex_;
  std::map<std::tuple<const Plan*, int, std::vector<int>>, std::unique_ptr<OfPlan>> plans_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_INDEX_KNOWN_TIMES_H_
