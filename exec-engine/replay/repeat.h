// Several iterations of a workload, one after another. A rank begins an iteration when it has ended
// the one before: its host may run ahead, its GPU does not. Ranks do not wait for one another but
// in their calls.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_REPEAT_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_REPEAT_H_

#include "core/base/result.h"
#include "core/model/timeline.h"
#include "core/model/workload.h"

namespace drydock {

// An error if a program is so long that its ops and dependencies, `times` times over, cannot be
// numbered.
Status CheckRepeat(const Workload& workload, int times);

// Every program `times` times over; CheckRepeat says that it can be.
Workload Repeat(const Workload& workload, int times);

// What a run of Repeat(workload, times) becomes: the last iteration, from when the first rank began
// it, with an account for each rank (a rank that began it later was idle), and how long each
// iteration took. `timeline` has ranks' times only; times > 1, and some rank has ops.
void KeepLastIteration(const Workload& workload, int times, Timeline* timeline);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_REPEAT_H_
