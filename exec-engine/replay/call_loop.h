// What nccl-tests calls the time of a call: it makes `calls` of them back to back, and each rank
// divides the time until its last has ended by their number. Nothing else runs, all ranks start at
// once; a rank starts its next call when it is done with the one before, so where ranks are done at
// different times (with a root, down a tree) calls overlap.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_CALL_LOOP_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_CALL_LOOP_H_

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/model/calls/call_workload.h"
#include "exec-engine/network/network.h"
#include "exec-engine/replay/replay.h"

namespace drydock {

// Whose time is reported (nccl-tests' --average, in its order).
enum class RankTime : uint8_t { kFirst, kMean, kLeast, kMost };

struct CallLoop {
  int calls = 20;                   // nccl-tests' --iters
  bool blocking = false;            // nobody starts a call before all have ended the last one
  RankTime rank = RankTime::kMean;  // of several groups, the slowest counts
};

// Replays as few of the calls as tell the time of all. One, if nobody can be done before the last
// has started (WaitsForAll) and all are done within 1 % of each other, for then calls cannot
// overlap by more. Three, if the second and the third took each member as long as every other. Else
// all.
Result<Time> TimeOfOneCall(const CallAlone& alone, const CallLoop& loop,
                           const NetworkModel& network, const ReplayOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_CALL_LOOP_H_
