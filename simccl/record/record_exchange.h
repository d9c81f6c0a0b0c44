// Messages that are one exchange among all members of a communicator: a ring, a halo, an all-to-all
// of uneven parts. The workload has a call for it (all-to-all, all-to-all-v).
#ifndef DRYDOCK_SIMCCL_RECORD_RECORD_EXCHANGE_H_
#define DRYDOCK_SIMCCL_RECORD_RECORD_EXCHANGE_H_

#include <optional>
#include <span>

#include "core/model/workload.h"
#include "simccl/record/record_log.h"

namespace drydock {

// The messages as their senders recorded them, none empty; nullopt if a member sends another two,
// or the members are too many for a table of pairs.
std::optional<CommCall> ExchangeOf(std::span<const RecordEntry* const> sends, int members);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RECORD_EXCHANGE_H_
