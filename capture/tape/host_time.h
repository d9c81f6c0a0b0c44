// The host's own time before each thing that a program asks of its GPU: CPU time of the thread
// since the last one.
#ifndef DRYDOCK_CAPTURE_TAPE_HOST_TIME_H_
#define DRYDOCK_CAPTURE_TAPE_HOST_TIME_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "capture/log/log_file.h"

namespace drydock::capture {

// True for launches, products, copies, fills, calls and launches of graphs.
bool IsAsked(EntryKind kind);

// Returns the times in ns of the entries between `begin` and `end` of `log` that are asked, in
// order.
std::vector<int64_t> HostTimes(const ProcessLog& log, size_t begin, size_t end);

// Returns the same of another run that asks the same between `begin` and `end`; none if it does
// not. The runs may start differently if they end alike.
std::vector<int64_t> HostTimesOf(const ProcessLog& timed, const ProcessLog& log, size_t begin,
                                 size_t end);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_TAPE_HOST_TIME_H_
