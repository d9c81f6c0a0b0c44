// The time of a call as nccl-tests measures it: each rank makes `calls` calls back to back and
// divides the time until the end of the last one by their number. Nothing else runs, and all ranks
// start at the same time, or as their hosts launch them (CallLoop::launch). A rank starts its next
// call when its previous one has ended, so calls overlap if their members end at different times
// (with a root, down a tree).
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_CALL_LOOP_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_CALL_LOOP_H_

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/model/calls/call_workload.h"
#include "core/network/network.h"
#include "exec-engine/replay/replay.h"

namespace drydock {

// The rank whose time is reported (nccl-tests' --average, in its order).
enum class RankTime : uint8_t { kFirst, kMean, kMin, kMax };

struct CallLoop {
  int calls = 20;                   // nccl-tests' --iters
  bool blocking = false;            // a call starts when all ranks have ended the previous one
  RankTime rank = RankTime::kMean;  // within a group; of several groups, the slowest counts
  ProcessLaunch launch;             // of the processes that make the calls
};

// Replays only as many calls as determine the time of all. One call suffices if no member can end
// before the last has started (WaitsForAll) and all members end within 1 % of each other, because
// calls then overlap by no more than that. Three calls suffice if all members take equally long for
// the second and the third. Otherwise all calls are replayed. With launches, all are, or three.
Result<Time> TimeOfOneCall(const CallAlone& alone, const CallLoop& loop,
                           const NetworkModel& network, const ReplayOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_CALL_LOOP_H_
