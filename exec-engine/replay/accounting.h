// Where each rank's iteration goes: the one definition of compute, host, exposed communication,
// straggler wait, bubble and idle time. In words: docs/explanation/accounting.md.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_ACCOUNTING_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_ACCOUNTING_H_

#include <vector>

#include "core/model/timeline.h"
#include "core/model/workload.h"

namespace drydock {

// The parts of one rank; they add up to `iteration` exactly. `roles` are the workload's.
TimeAccount AccountFor(const Program& program, const std::vector<GroupRole>& roles,
                       const RankTimeline& timeline, Time iteration);

Time Total(const TimeAccount& account);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_ACCOUNTING_H_
