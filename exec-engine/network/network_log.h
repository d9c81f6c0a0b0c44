// What a network saw in detail: its links at an interval, and every message. Filled by a Network
// that was asked for it, written as three tables (docs/reference/run-directory.md).
#ifndef DRYDOCK_EXEC_ENGINE_NETWORK_NETWORK_LOG_H_
#define DRYDOCK_EXEC_ENGINE_NETWORK_NETWORK_LOG_H_

#include <string>
#include <vector>

#include "core/model/slowdown.h"
#include "exec-engine/network/network.h"

namespace drydock {

inline constexpr const char* kLinkLogName = "4-links.csv";
inline constexpr const char* kMessageLogName = "4-messages.csv";
inline constexpr const char* kSlowdownName = "4-slowdown.csv";

// By size.
std::vector<SlowdownRow> SlowdownsOf(const NetworkLog& log);

// The tables lie in the folder `run`.
// Removes them, as far as they are there.
void RemoveNetworkLog(const std::string& run);
Status WriteNetworkLog(const std::string& run, const NetworkLog& log);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORK_NETWORK_LOG_H_
