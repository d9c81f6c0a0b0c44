#include "exec-engine/replay/call_loop.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "exec-engine/replay/communication.h"

namespace drydock {
namespace {

// Tolerances of the shortcuts in TimeOfOneCall, as fractions of a call.
constexpr int64_t kSpreadShare = 100;   // ends may differ by 1/100
constexpr int64_t kPeriodShare = 1000;  // periods that differ by 1/1000 count as equal
constexpr int kCallsToSeePeriod = 3;

Time DividedBy(Time time, int64_t number) { return Time::Ps(time.ps() / number); }

// The ends of the calls of each member of each group.
using Ends = std::vector<std::vector<std::vector<Time>>>;

// The ends of the collectives of a rank, whose program may have other launches between them.
std::vector<Time> EndsOfCalls(const Program& program, std::vector<Time> ends) {
  std::vector<Time> of_calls;
  for (size_t op = 0; op < program.ops.size(); ++op) {
    if (program.ops[op].kind == OpKind::kCollective) of_calls.push_back(ends[op]);
  }
  return of_calls;
}

Result<Ends> ReplayCalls(const CallAlone& alone, int calls, const ProcessLaunch& launch,
                         const NetworkModel& network, const ReplayOptions& options) {
  CallAlone repeated = alone;
  if (launch.modeled()) {
    RepeatLaunched(calls, launch, &repeated);
  } else {
    Repeat(calls, &repeated);
  }
  const Workload& workload = repeated.workload;
  const KernelTimes times = NoKernelTimes(workload.topology, workload.submodules.size());
  ASSIGN_OR_RETURN(Timeline timeline, Replay(workload, repeated.plan, times, network, options));
  Ends ends;
  for (const Group& group : workload.groups) {
    auto& members = ends.emplace_back();
    for (const int rank : group.ranks) {
      const int program = workload.class_of_rank[static_cast<size_t>(rank)];
      members.push_back(
          EndsOfCalls(workload.programs[static_cast<size_t>(program)],
                      std::move(timeline.ranks[static_cast<size_t>(rank)].end.own())));
    }
  }
  return ends;
}

// Returns true if the members of each group end the first call within kSpreadShare of each other.
bool EndTogether(const Ends& ends) {
  for (const auto& members : ends) {
    const auto [first, last] = std::minmax_element(
        members.begin(), members.end(), [](const auto& a, const auto& b) { return a[0] < b[0]; });
    if (last->front() - first->front() > DividedBy(last->front(), kSpreadShare)) return false;
  }
  return true;
}

// Returns true if all members take equally long for the last two calls. Then the offsets between
// members stay the same, and later calls take the same time.
bool AreSteady(const std::vector<std::vector<Time>>& members) {
  Time min = Time::Max(), max;
  for (const std::vector<Time>& ends : members) {
    for (size_t call = ends.size() - 2; call < ends.size(); ++call) {
      const Time period = ends[call] - ends[call - 1];
      min = std::min(min, period);
      max = std::max(max, period);
    }
  }
  return max - min <= DividedBy(max, kPeriodShare);
}

// The end of the last of `calls` calls, if calls that are not replayed take as long as the last
// replayed one.
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
    case RankTime::kMin:
      return *std::min_element(times.begin(), times.end());
    case RankTime::kMax:
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
  one.rank = RankTime::kMax;
  return Slowest(ends, one);
}

}  // namespace

Result<Time> TimeOfOneCall(const CallAlone& alone, const CallLoop& loop,
                           const NetworkModel& network, const ReplayOptions& options) {
  CHECK(loop.calls > 0);
  const bool waits = WaitsForAll(alone.workload.calls[0].collective) && !loop.launch.modeled();
  if (loop.blocking || loop.calls == 1 || waits) {
    ASSIGN_OR_RETURN(const Ends ends, ReplayCalls(alone, 1, loop.launch, network, options));
    // All members wait for the last one.
    if (loop.blocking) return LastEnd(ends);
    if (loop.calls == 1 || EndTogether(ends)) return Slowest(ends, loop);
  }
  if (loop.calls > kCallsToSeePeriod) {
    ASSIGN_OR_RETURN(const Ends ends,
                     ReplayCalls(alone, kCallsToSeePeriod, loop.launch, network, options));
    if (std::all_of(ends.begin(), ends.end(), AreSteady)) return Slowest(ends, loop);
  }
  ASSIGN_OR_RETURN(const Ends ends, ReplayCalls(alone, loop.calls, loop.launch, network, options));
  return Slowest(ends, loop);
}

}  // namespace drydock
