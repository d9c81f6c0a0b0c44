// Divides each rank's iteration into compute, host, exposed communication, straggler wait, bubble,
// memory and idle time. docs/explanation/accounting.md has the definitions in words.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_ACCOUNTING_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_ACCOUNTING_H_

#include <vector>

#include "core/model/timeline.h"
#include "core/model/workload.h"

namespace drydock {

// Returns the account of one rank, whose parts add up to `iteration` exactly. `roles` are those of
// the workload.
TimeAccount AccountFor(const Program& program, const std::vector<GroupRole>& roles,
                       const RankTimeline& timeline, Time iteration);

Time Total(const TimeAccount& account);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_ACCOUNTING_H_
