// Reports a run that cannot finish: which ranks wait in which ops, for which ranks, and the cycle
// of waits.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_STUCK_REPORT_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_STUCK_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "exec-engine/index/replay_index.h"

namespace drydock {

// An op that a rank has started and that never ended.
struct StuckOp {
  int rank = 0;
  uint32_t op = 0;
  std::string waits_for;
  std::vector<int> ranks;  // for which it waits; empty: unknown
};

// `stuck` are the stuck ops of all ranks, ordered by rank. `ended` ops have ended.
Error DeadlockError(const ReplayIndex& index, const std::vector<StuckOp>& stuck, int64_t ended);

// A cycle of waits: each op waits for the rank of the next one, the last for the rank of the first.
// If there is no cycle, the longest chain, whose last op waits for a rank that is not stuck or is
// unknown.
struct WaitChain {
  std::vector<size_t> ops;  // indices into `stuck`
  bool closed = false;
};
WaitChain FindChain(const std::vector<StuckOp>& stuck);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_STUCK_REPORT_H_
