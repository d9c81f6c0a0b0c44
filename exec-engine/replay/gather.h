// Combines what the processes of a replay know. All processes call each function, in the same
// order.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_GATHER_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_GATHER_H_

#include <cstdint>
#include <vector>

#include "core/base/processes.h"
#include "core/model/timeline.h"
#include "exec-engine/replay/communication.h"
#include "exec-engine/replay/host_replay.h"

namespace drydock {

// The state of some hosts at the end of a run.
struct RunState {
  int64_t ended = 0;     // ops
  bool stopped = false;  // events remain after the end of the run
  std::vector<StuckOp> stuck;
};

// Returns the state of all hosts to every process, with stuck ops ordered by rank.
RunState GatherState(RunState own, Processes* processes);

// Returns the sums to every process.
CommunicationCounters GatherCounters(const CommunicationCounters& own, Processes* processes);

// Moves the timelines of all ranks to the first process. `own` are the ranks of this process.
void GatherRanks(const std::vector<int>& own, Processes* processes,
                 std::vector<RankTimeline>* ranks);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_GATHER_H_
