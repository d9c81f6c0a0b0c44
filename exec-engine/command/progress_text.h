// The progress of a replay in words.
#ifndef DRYDOCK_EXEC_ENGINE_COMMAND_PROGRESS_TEXT_H_
#define DRYDOCK_EXEC_ENGINE_COMMAND_PROGRESS_TEXT_H_

#include <cstddef>
#include <string>

#include "exec-engine/replay/progress.h"

namespace drydock {

// "37 %, 12.3 ms simulated, 1234 of 3333 ops, 2.1 M events/s, 41 s left"; `seconds` is the
// run time so far.
std::string ProgressText(const Progress::Snapshot& at, double seconds);

// Writes "1234 of 3333 ops done, 12.345 ms simulated" to `text` and returns the length. Does not
// allocate, so that a signal handler may call it.
inline constexpr size_t kBriefProgressSize = 128;
size_t WriteBriefProgress(const Progress::Snapshot& at, char (&text)[kBriefProgressSize]);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COMMAND_PROGRESS_TEXT_H_
