#include "exec-engine/replay/call_loop.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "exec-engine/replay/communication.h"

namespace drydock {
namespace {

constexpr int64_t kSpreadShare = 100;   // ends may differ by 1/100 of a call
constexpr int64_t kPeriodShare = 1000;  // periods count as equal within 1/1000
constexpr int kCallsToSeePeriod = 3;

Time DividedBy(Time time, int64_t number) { return Time::Ps(time.ps() / number); }

// By group and member, when each of its calls ended.
using Ends = std::vector<std::vector<std::vector<Time>>>;

Result<Ends> ReplayCalls(const CallAlone& alone, int calls, const NetworkModel& network,
                         const ReplayOptions& options) {
  CallAlone repeated = alone;
  Repeat(calls, &repeated);
  const Workload& workload = repeated.workload;
  ASSIGN_OR_RETURN(Timeline timeline, Replay(workload, repeated.plan,
                                             NoKernelTimes(workload.topology), network, options));
  Ends ends;
  for (const Group& group : workload.groups) {
    auto& members = ends.emplace_back();
    for (const int rank : group.ranks) {
      members.push_back(std::move(timeline.ranks[static_cast<size_t>(rank)].end));
    }
  }
  return ends;
}

// True if no two members of a group were done with the first call more than a share of it apart.
bool EndTogether(const Ends& ends) {
  for (const auto& members : ends) {
    const auto [first, last] = std::minmax_element(
        members.begin(), members.end(), [](const auto& a, const auto& b) { return a[0] < b[0]; });
    if (last->front() - first->front() > DividedBy(last->front(), kSpreadShare)) return false;
  }
  return true;
}

// True if the last two calls took every member of a group as long as every other: then nobody runs
// ahead of the others any more, and it goes on like that.
bool AreSteady(const std::vector<std::vector<Time>>& members) {
  Time least = Time::Max(), most;
  for (const std::vector<Time>& ends : members) {
    for (size_t call = ends.size() - 2; call < ends.size(); ++call) {
      const Time period = ends[call] - ends[call - 1];
      least = std::min(least, period);
      most = std::max(most, period);
    }
  }
  return most - least <= DividedBy(most, kPeriodShare);
}

// When the last of `calls` ends, if those that were not replayed take as long as the last that was.
Time EndOf(const std::vector<Time>& ends, int calls) {
  const size_t last = ends.size() - 1;
  const Time period = last == 0 ? ends[0] : ends[last] - ends[last - 1];
  return ends[last] + period * (calls - static_cast<int>(ends.size()));
}

Time Reported(const std::vector<std::vector<Time>>& members, const CallLoop& loop) {
  std::vector<Time> times;
  for (const auto& ends : members) times.push_back(DividedBy(EndOf(ends, loop.calls), loop.calls));
  switch (loop.rank) {
    case RankTime::kFirst:
      return times[0];
    case RankTime::kLeast:
      return *std::min_element(times.begin(), times.end());
    case RankTime::kMost:
      return *std::max_element(times.begin(), times.end());
    case RankTime::kMean:
      break;
  }
  const Time least = *std::min_element(times.begin(), times.end());
  Time above;
  for (const Time time : times) above += time - least;
  return least + DividedBy(above, static_cast<int64_t>(times.size()));
}

Time Slowest(const Ends& ends, const CallLoop& loop) {
  Time slowest;
  for (const auto& members : ends) slowest = std::max(slowest, Reported(members, loop));
  return slowest;
}

Time LastEnd(const Ends& ends) {
  CallLoop one;
  one.calls = 1;
  one.rank = RankTime::kMost;
  return Slowest(ends, one);
}

}  // namespace

Result<Time> TimeOfOneCall(const CallAlone& alone, const CallLoop& loop,
                           const NetworkModel& network, const ReplayOptions& options) {
  CHECK(loop.calls > 0);
  const bool waits = WaitsForAll(alone.workload.calls[0].collective);
  if (loop.blocking || loop.calls == 1 || waits) {
    ASSIGN_OR_RETURN(const Ends ends, ReplayCalls(alone, 1, network, options));
    // All wait for the last to end.
    if (loop.blocking) return LastEnd(ends);
    if (loop.calls == 1 || EndTogether(ends)) return Slowest(ends, loop);
  }
  if (loop.calls > kCallsToSeePeriod) {
    ASSIGN_OR_RETURN(const Ends ends, ReplayCalls(alone, kCallsToSeePeriod, network, options));
    if (std::all_of(ends.begin(), ends.end(), AreSteady)) return Slowest(ends, loop);
  }
  ASSIGN_OR_RETURN(const Ends ends, ReplayCalls(alone, loop.calls, network, options));
  return Slowest(ends, loop);
}

}  // namespace drydock
