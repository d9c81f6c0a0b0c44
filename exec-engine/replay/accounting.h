// Divides each rank's iteration into compute, host, exposed communication, straggler wait, bubble,
// memory and idle time. docs/explanation/accounting.md has the definitions in words.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_ACCOUNTING_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_ACCOUNTING_H_

#include <vector>

#include "core/model/timeline.h"
#include "core/model/workload.h"
#include "exec-engine/host/launch_table.h"

namespace drydock {

// What the account of a rank depends on beside its times. All outlive the call.
struct AccountedRank {
  const Program& program;
  const std::vector<GroupRole>& roles;           // of the workload
  const std::vector<MemoryTransfer>& transfers;  // of the workload
  const LaunchTable* launches = nullptr;         // of the rank's host; null: not modeled
};

// Returns the account of one rank, whose parts add up to `iteration` exactly.
TimeAccount AccountFor(const AccountedRank& rank, const RankTimeline& timeline, Time iteration);

Time Total(const TimeAccount& account);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_ACCOUNTING_H_
