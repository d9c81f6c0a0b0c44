// The host's own time before each thing that a program asks of its GPU: CPU time of the thread
// since the last one.
#ifndef DRYDOCK_CAPTURE_TAPE_HOST_TIME_H_
#define DRYDOCK_CAPTURE_TAPE_HOST_TIME_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "capture/log/log_file.h"

namespace drydock::capture {

// True for launches, products, copies, fills, calls and launches of graphs.
bool IsAsked(EntryKind kind);

// Returns the times in ns of the entries between `begin` and `end` of `log` that are asked, in
// order. The first one of a thread has the time since the last one before `begin`: a program makes
// its next batch there.
std::vector<int64_t> HostTimes(const ProcessLog& log, size_t begin, size_t end);

// Returns the same as measured in another run of the program. The two runs may differ: without
// values a program takes other branches, and compiled code is in a cache the second time. What only
// the first run asks for has its time there, scaled as the rest. Nullopt if more than a tenth of
// the iteration is only in the first run.
std::optional<std::vector<int64_t>> HostTimesIn(const ProcessLog& timed, const ProcessLog& log,
                                                size_t begin, size_t end);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_TAPE_HOST_TIME_H_
