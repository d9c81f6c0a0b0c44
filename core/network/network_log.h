// What a network observes in detail: its links at a fixed interval, and every message. A Network
// fills the log if NetworkOptions::log_interval is above zero. WriteNetworkLog writes it as three
// tables (docs/reference/run-directory.md).
#ifndef DRYDOCK_CORE_NETWORK_NETWORK_LOG_H_
#define DRYDOCK_CORE_NETWORK_NETWORK_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/slowdown.h"
#include "core/network/message.h"

namespace drydock {

struct LinkName {
  std::string from, to;  // "host 3/nic0", "leaf0"
  Bandwidth rate;
};

// What happened on a link since the previous sample. A link without activity has no sample.
struct LinkSample {
  Time at;
  Time interval;
  int link = 0;                     // into NetworkLog::links
  Bytes sent;                       // includes headers and acknowledgements
  Bytes queued;                     // in front of the link at time `at`
  int64_t marked = 0, dropped = 0;  // frames bound for the link
  Time paused;                      // for which some traffic class was paused
  int64_t repeated = 0;             // packets that the NIC at the link's start retransmitted

  bool Quiet() const {
    return sent == Bytes() && queued == Bytes() && marked == 0 && dropped == 0 &&
           paused == Time() && repeated == 0;
  }
};

struct MessageRecord {
  Message message;
  Time delivered;
  Time idle;  // the time that the message takes on an idle network
};

struct NetworkLog {
  std::vector<LinkName> links;
  std::vector<LinkSample> samples;      // by time and link
  std::vector<MessageRecord> messages;  // by (sent, source, id)
};

inline constexpr const char* kLinkLogName = "4-links.csv";
inline constexpr const char* kMessageLogName = "4-messages.csv";
inline constexpr const char* kSlowdownName = "4-slowdown.csv";

// Returns the slowdowns of the logged messages, by message size.
std::vector<SlowdownRow> SlowdownsOf(const NetworkLog& log);

// Both work on the run directory `run`. Removing absent tables is not an error.
void RemoveNetworkLog(const std::string& run);
Status WriteNetworkLog(const std::string& run, const NetworkLog& log);

}  // namespace drydock

#endif  // DRYDOCK_CORE_NETWORK_NETWORK_LOG_H_
