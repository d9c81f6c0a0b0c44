// Groups of sends and receives that are one exchange among all members of a communicator: a ring, a
// halo, an all-to-all of uneven parts. NCCL launches such a group as one kernel a member, and the
// workload has a call for it (all-to-all-v), so that it need not be taken apart.
#ifndef DRYDOCK_SIMCCL_RECORD_EXCHANGE_H_
#define DRYDOCK_SIMCCL_RECORD_EXCHANGE_H_

#include <cstdint>
#include <map>
#include <vector>

#include "core/model/workload.h"
#include "simccl/record_log.h"

namespace drydock {

// By communicator: what each member's first, second, ... group that holds messages amounts to.
using RecordExchanges = std::map<uint64_t, std::vector<CommCall>>;

// Communicators of which that holds throughout: all members make the same number of groups with
// messages, every message meets its other end in the group of the same number, none sends another
// member two in one group, and some group holds more than one. Messages of all other communicators
// are ops of their own. The recording must have passed MatchCalls.
RecordExchanges FindExchanges(const Recording& recording);

// The workload's name of an NCCL type.
DataType TypeOf(const RecordEntry& entry);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_EXCHANGE_H_
