// Messages about communication that cannot finish. Internal to the deadlock check.
#ifndef DRYDOCK_CORE_MODEL_DEADLOCK_DEADLOCK_REPORT_H_
#define DRYDOCK_CORE_MODEL_DEADLOCK_DEADLOCK_REPORT_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/result.h"
#include "core/model/calls/call_graph.h"
#include "core/model/calls/rank_classes.h"
#include "core/model/workload.h"

namespace drydock {

enum class OpState : uint8_t { kWaiting, kBegun, kEnded };

// Returns true if, in this call of this group, the member at position `member` waits for the member
// at position `other`.
using AwaitedMember = std::function<bool(uint32_t call, uint32_t group, int member, int other)>;

// Returns an error if members of a communicator have different n-th calls.
Status CheckCallsMatch(const Workload& workload, const RankClasses& classes,
                       const std::vector<ClassProgram>& programs);

// Returns the cycle of waiting ranks in a run that stopped in these states ([class][op]), or the
// chain of ranks up to one that never makes the call. REQUIRES: an op has not ended.
Error DeadlockError(const Workload& workload, const RankClasses& classes,
                    const std::vector<ClassProgram>& programs,
                    const std::vector<std::vector<OpState>>& states, const AwaitedMember& awaits);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_DEADLOCK_DEADLOCK_REPORT_H_
