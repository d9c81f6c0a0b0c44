// Several iterations of a workload, one after another. A rank begins an iteration when it has ended
// the previous one: its host may run ahead, its GPU does not. Ranks wait for each other only in
// their calls.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_REPEAT_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_REPEAT_H_

#include "core/base/result.h"
#include "core/model/timeline.h"
#include "core/model/workload.h"
#include "exec-engine/index/replay_index.h"

namespace drydock {

// Returns an error if the ops or the dependencies of a program, repeated `times` times, are too
// many for 32-bit numbers.
Status CheckRepeat(const Workload& workload, int times);

// Returns the workload with every program repeated `times` times. REQUIRES: CheckRepeat is ok.
Workload Repeat(const Workload& workload, int times);

// Reduces the timeline of Repeat(workload, times) to the last iteration. Time 0 is the moment at
// which the first rank begins that iteration. Adds the durations of all iterations and an account
// for each rank, in which a rank that begins later is idle until it begins. REQUIRES: times > 1,
// some rank has ops, and `timeline` has only the times of ranks. `index`: of the repeated workload.
void KeepLastIteration(const Workload& workload, const ReplayIndex& index, int times,
                       Timeline* timeline);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_REPEAT_H_
