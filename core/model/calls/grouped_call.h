// Calls that the members of a communicator make in one group (ncclGroupStart to ncclGroupEnd), as
// one call: CollectiveType::kGrouped.
#ifndef DRYDOCK_CORE_MODEL_CALLS_GROUPED_CALL_H_
#define DRYDOCK_CORE_MODEL_CALLS_GROUPED_CALL_H_

#include <string>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

// At least one part, none of them grouped, all of one group size.
CommCall MakeGrouped(std::vector<CommCall> parts);

// Where the buffer of each part begins in the grouped call's, in bytes.
std::vector<int64_t> OffsetsOfParts(const CommCall& grouped);

// True if each member sends as much, so many places on round the group: all do alike, as in a
// collective. Of such a call every member is taken to wait for all.
bool IsShift(const CommCall& call);

// True if members differ in what they have to do with the call, or some have nothing: messages, and
// groups of messages alone that are no shifts.
// Such calls are told apart by what they are, not by how many collectives came before
// (call_numbers.h).
bool IsAmongSome(const CommCall& call);

// True if the member makes the call.
bool TakesPart(const CommCall& call, int member);
int ParticipantsOf(const CommCall& call);

// "all-reduce x2, send-recv", of a grouped call; else the name of its collective.
std::string KindText(const CommCall& call);

// ", registered buffers"; of a grouped call those of its parts, ", some registered buffers" if only
// some have them; "" if NCCL was told nothing.
std::string BuffersText(const CommCall& call);

// "all-reduce bf16 100.7 MB over 8": any call.
std::string NameOf(const CommCall& call);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_GROUPED_CALL_H_
