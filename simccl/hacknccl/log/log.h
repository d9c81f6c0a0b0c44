// What NCCL writes to its log. Warnings are kept as the reason of a failure; complaints tell which
// settings NCCL replaced; the rest is dropped unless a listener is set. Thread-safe.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_LOG_LOG_H_
#define DRYDOCK_SIMCCL_HACKNCCL_LOG_LOG_H_

#include <string>

namespace drydock {

// Returns NCCL's warnings since the last call, one per line.
std::string TakeWarnings();

// Returns what NCCL said since the last call about settings that it replaced.
std::string TakeComplaints();

// Turns on NCCL's INFO log. From now on every line goes to `listen`, one at a time.
void ListenToLog(void (*listen)(const char* line));

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_LOG_LOG_H_
