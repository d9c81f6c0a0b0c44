// The messages of an iteration: each send with its receive. Pure functions.
#ifndef DRYDOCK_REPORT_FACTS_MESSAGES_H_
#define DRYDOCK_REPORT_FACTS_MESSAGES_H_

#include <cstdint>
#include <vector>

#include "report/inputs/inputs.h"

namespace drydock {

struct MessageEnd {
  int rank = 0;
  uint8_t stream = 0;
  Time ready, end;  // of the op
};

struct SentMessage {
  MessageEnd send, receive;
};

// Returns the messages whose two ranks are in `ranks`, by sender, receiver, tag and program order.
// Messages of one tag between two ranks match in order.
std::vector<SentMessage> MessagesBetween(const Inputs& inputs, const std::vector<int>& ranks);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_MESSAGES_H_
