// A cache of the times of calls inside a host: how long each member takes, by the offsets between
// the arrivals of the members. Groups inside hosts of one kind whose members run the same plan over
// ports of the same rates share entries, whichever GPUs they have: one group plays the call, the
// others look it up. All hosts and threads of a process share the cache. A call is played once per
// entry, so that entries do not depend on the order of the hosts.
//
// Often only the arrival of the last member matters: a reduction in the switches, or a ring in
// which every path visits all members, can do little before. A plan is taken to have this property
// if it holds in the cases that would refute it: all members at once; each member in turn so late
// that the others have done all they can; random arrivals over spans from 1/64 of the call to four
// times its length.
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
  using Offsets = std::vector<int64_t>;  // by local member, ps after the first arrival
  struct Times {
    std::vector<Time> end, ready;  // by local member, after the first arrival
    int64_t slices = 0;            // moved while the call was played
  };

  // The times of one plan on hosts that share entries.
  class OfPlan {
   public:
    using Play = std::function<Times(const Offsets&)>;
    // Returns the times for these offsets, and plays the call if no host has. The reference stays
    // valid as long as this.
    const Times& Find(const Offsets& offsets, const Play& play);
    // Returns the times after the last arrival, or null if other arrivals matter as well. The first
    // call plays some fifty cases.
    const Times* FromLastArrival(size_t members, const Play& play);

   private:
    static bool OnlyTheLastMatters(size_t members, const Times& together, const Play& play);

    std::mutex mutex_;
    std::unordered_map<Offsets, std::unique_ptr<const Times>, RangeHash> times_;
    bool examined_ = false;
    std::unique_ptr<const Times> from_last_arrival_;  // null: other arrivals matter
  };

  // `ways`: the ports that the plan takes on the host and their rates (WaysOf in local_plan.h). The
  // result stays valid as long as this.
  OfPlan* For(const Plan* plan, int host_kind, std::vector<int64_t> ways);

 private:
  std::mutex mutex_;
  std::map<std::tuple<const Plan*, int, std::vector<int64_t>>, std::unique_ptr<OfPlan>> plans_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_INDEX_KNOWN_TIMES_H_
