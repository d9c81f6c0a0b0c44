// Checks that the calls of a recorded program match: on every communicator all members make the
// same collectives in the same order, and every send has its receive. A program whose calls do not
// match would hang, or mix up data.
#ifndef DRYDOCK_SIMCCL_RECORD_LOG_MATCH_H_
#define DRYDOCK_SIMCCL_RECORD_LOG_MATCH_H_

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/model/gpu.h"
#include "simccl/record/log/recording.h"

namespace drydock {

// Returns where the program made a call, "op 3 of class 0 (tp.all-gather)", or "" if unknown.
using PlaceOfCall = std::function<std::string(int rank, const RecordEntry& call)>;

// Checks all communicators. The error lists the first mismatch of each of up to eight
// communicators. A size that overflows is an error as well. Calls that only move data match if they
// move the same number of bytes; calls of other members, and receives, then take the type and count
// of the first member's call, or of the send. Calls that move at most `object_bytes` single bytes
// match whatever their sizes are: a capture does not know how long the pickled objects of absent
// ranks are.
Status MatchCalls(Recording* recording, const PlaceOfCall& place = nullptr,
                  int64_t object_bytes = 0);

// Returns true for a send or a receive.
bool IsMessage(const RecordEntry& entry);
// Returns the workload's type for the NCCL type of a call, and the bytes of one element.
DataType TypeOf(const RecordEntry& entry);
int64_t ElementBytes(const RecordEntry& entry);
// Returns "all-reduce of 100 float32 (sum)".
std::string DescribeCall(const RecordEntry& entry);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_LOG_MATCH_H_
