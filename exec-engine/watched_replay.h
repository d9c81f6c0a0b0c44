// A replay that shows its progress in a line of the terminal, and reports it when interrupted.
#ifndef DRYDOCK_EXEC_ENGINE_WATCHED_REPLAY_H_
#define DRYDOCK_EXEC_ENGINE_WATCHED_REPLAY_H_

#include "core/base/cli.h"
#include "exec-engine/replay/replay.h"

namespace drydock {

// Runs Replay(...) and shows its progress unless --quiet. `info` outlives the process. Only one
// replay runs at a time.
Result<Timeline> ReplayWatched(const ToolInfo& info, const CommonOptions& common,
                               const Workload& workload, const FlowPlan& plan,
                               const KernelTimes& times, const NetworkModel& network,
                               ReplayOptions options);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_WATCHED_REPLAY_H_
