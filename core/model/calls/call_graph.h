// The programs of a workload as the deadlock check walks them, one for each class of ranks: what
// follows what, and which call of which kind of communicator each op is.
#ifndef DRYDOCK_CORE_MODEL_CALLS_CALL_GRAPH_H_
#define DRYDOCK_CORE_MODEL_CALLS_CALL_GRAPH_H_

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/model/calls/rank_classes.h"
#include "core/model/workload.h"

namespace drydock {

inline constexpr uint32_t kNone = UINT32_MAX;

struct ClassProgram {
  const Program* program = nullptr;
  // CSR of what waits for an op: those that depend on it, and the next of its stream.
  std::vector<uint32_t> follower_begin, follower;
  std::vector<uint32_t> open;      // by op: how many it waits for
  std::vector<uint32_t> previous;  // by op: the one before it on its stream
  std::vector<uint64_t> number;    // by op, of communication (call_numbers.h)
};

// By class.
Result<std::vector<ClassProgram>> MakeClassPrograms(const Workload& workload,
                                                    const RankClasses& classes);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_CALL_GRAPH_H_
