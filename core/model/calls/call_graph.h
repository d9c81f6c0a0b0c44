// The programs of a workload as graphs for the deadlock check, one per rank class: the followers of
// each op, and the number of its call.
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
  // CSR of the ops that wait for an op: its dependents and the next op of its stream.
  std::vector<uint32_t> follower_begin, follower;
  std::vector<uint32_t> open;      // by op: number of ops it waits for
  std::vector<uint32_t> previous;  // by op: the previous op of its stream
  std::vector<uint64_t> number;    // by op, of communication (call_numbers.h)
};

// Returns one per class.
Result<std::vector<ClassProgram>> MakeClassPrograms(const Workload& workload,
                                                    const RankClasses& classes);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_CALL_GRAPH_H_
