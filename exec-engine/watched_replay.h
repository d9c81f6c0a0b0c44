// A replay that tells how far it is: in a line on the terminal while it runs, and when it is
// interrupted.
#ifndef DRYDOCK_EXEC_ENGINE_WATCHED_REPLAY_H_
#define DRYDOCK_EXEC_ENGINE_WATCHED_REPLAY_H_

#include "core/base/cli.h"
#include "exec-engine/replay/replay.h"

namespace drydock {

// Replay(...), watched unless --quiet. `info` outlives the process's interest; one at a time.
Result<Timeline> ReplayWatched(const ToolInfo& info, const CommonOptions& common,
                               const Workload& workload, const FlowPlan& plan,
                               const KernelTimes& times, const NetworkModel& network,
                               ReplayOptions options);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_WATCHED_REPLAY_H_
