// Whether the ranks of a recorded program fit together: on every communicator all members make the
// same collectives in the same order, and every send has its receive. Where they do not, NCCL would
// hang or mix up data.
#ifndef DRYDOCK_SIMCCL_RECORD_RECORD_MATCH_H_
#define DRYDOCK_SIMCCL_RECORD_RECORD_MATCH_H_

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/result.h"
#include "simccl/record/record_log.h"

namespace drydock {

// Where the program made a call, if that is known: "op 3 of class 0 (tp.all-gather)"; else "".
using PlaceOfCall = std::function<std::string(int rank, const RecordEntry& call)>;

// The first misfit of each communicator, for up to eight communicators. Sizes that overflow are
// errors as well. Calls that only move data fit if they move as many bytes; those of other members
// and receivers then take on the type and count of the first member's and the sender's.
Status MatchCalls(Recording* recording, const PlaceOfCall& place = nullptr);

bool IsMessage(const RecordEntry& entry);  // a send or a receive
int64_t ElementBytes(const RecordEntry& entry);
// "all-reduce of 100 float32 (sum)"
std::string DescribeCall(const RecordEntry& entry);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RECORD_MATCH_H_
