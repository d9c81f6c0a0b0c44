// Recognizes messages that form one exchange among all members of a communicator: a ring, a halo
// exchange, an all-to-all of uneven parts. A workload has calls for these (all-to-all,
// all-to-all-v).
#ifndef DRYDOCK_SIMCCL_RECORD_WORKLOAD_EXCHANGE_H_
#define DRYDOCK_SIMCCL_RECORD_WORKLOAD_EXCHANGE_H_

#include <optional>
#include <span>

#include "core/model/workload.h"
#include "simccl/record/log/recording.h"

namespace drydock {

// Returns the call that sends these messages, or nullopt if a member sends two messages to the same
// member, or if there are too many members for a table of pairs. REQUIRES: no message is empty.
std::optional<CommCall> ExchangeOf(std::span<const RecordEntry* const> sends, int members);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_WORKLOAD_EXCHANGE_H_
