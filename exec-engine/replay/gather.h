// What each process has seen of a replay, brought together. Called by all processes in turn.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_GATHER_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_GATHER_H_

#include <cstdint>
#include <vector>

#include "core/base/processes.h"
#include "core/model/timeline.h"
#include "exec-engine/replay/communication.h"
#include "exec-engine/replay/host_replay.h"

namespace drydock {

// How far the ops of some hosts have come.
struct HowFar {
  int64_t ended = 0;
  bool stopped = false;  // something would have happened after the end of the run
  std::vector<StuckOp> stuck;
};

// Of all hosts, in every process, ops by rank.
HowFar GatherHowFar(HowFar own, Processes* processes);

// Sums, in every process.
CommunicationCounters GatherCounters(const CommunicationCounters& own, Processes* processes);

// In the first process `ranks` gets those that others have; elsewhere they are gone afterwards.
// `own`: which this process has.
void GatherRanks(const std::vector<int>& own, Processes* processes,
                 std::vector<RankTimeline>* ranks);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_GATHER_H_
