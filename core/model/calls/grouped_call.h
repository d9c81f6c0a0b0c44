// Calls that the members of a communicator make in one group (ncclGroupStart to ncclGroupEnd), as
// one call: CollectiveType::kGrouped.
#ifndef DRYDOCK_CORE_MODEL_CALLS_GROUPED_CALL_H_
#define DRYDOCK_CORE_MODEL_CALLS_GROUPED_CALL_H_

#include <string>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

// REQUIRES: at least one part; no part is grouped; all have one group size.
CommCall MakeGrouped(std::vector<CommCall> parts);

// Returns the offset of each part's buffer in the grouped call's buffer, in bytes.
std::vector<int64_t> OffsetsOfParts(const CommCall& grouped);

// Returns true if the call is a set of cyclic shifts: each member m sends equal sizes to the
// members m + k for the same k's. Such a call counts as a collective: every member waits for all.
bool IsCyclicShift(const CommCall& call);

// Returns true if some members may have no part in the call: if it is a message, or a group of
// messages only that is not a cyclic shift. Such a call is identified by its name, not by the
// number of earlier collectives (call_numbers.h).
bool InvolvesSubset(const CommCall& call);

// Returns true if the call, or any call of a group, is made without NCCL.
bool BypassesNccl(const CommCall& call);

// Returns true if the member makes the call.
bool TakesPart(const CommCall& call, int member);
int ParticipantsOf(const CommCall& call);

// Returns "all-reduce x2, send-recv" for a grouped call, else the name of the collective.
std::string KindText(const CommCall& call);

// Returns ", registered buffers", or ", some registered buffers" if only some parts of a grouped
// call have them; "" for plain buffers.
std::string BuffersText(const CommCall& call);

// Returns "all-reduce bf16 100.7 MB over 8"; for any call.
std::string NameOf(const CommCall& call);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_GROUPED_CALL_H_
