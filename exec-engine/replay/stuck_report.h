// What is told of a run that cannot finish: which ranks wait for which op, on whom, and in what
// circle.
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
  std::vector<int> ranks;  // for whom; empty: nobody knows
};

// `stuck` by rank, those of all ranks; `ended` of all ops have ended.
Error DeadlockError(const ReplayIndex& index, const std::vector<StuckOp>& stuck, int64_t ended);

// The circle among them, as places in `stuck`: each waits for the rank of the next, the last for
// that of the first. Where there is none, a chain whose last waits for a rank that is not stuck (or
// for nobody that is known).
struct WaitChain {
  std::vector<size_t> ops;
  bool closed = false;
};
WaitChain FindChain(const std::vector<StuckOp>& stuck);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_STUCK_REPORT_H_
