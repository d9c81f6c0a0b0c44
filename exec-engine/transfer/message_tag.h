// How a message tells its receiver which call and connection it belongs to.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_MESSAGE_TAG_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_MESSAGE_TAG_H_

#include <cstdint>

#include "core/network/message.h"

namespace drydock {

// The name of a call, which both ends of a connection know: group << 32 | sequence (ReplayIndex).
using CallKey = uint64_t;
inline CallKey MakeCallKey(uint32_t group, uint32_t sequence) {
  return static_cast<CallKey>(group) << 32 | sequence;
}

inline constexpr CallKey kNoCall = UINT64_MAX;

// Message::tag holds the key of the call, Message::detail the other two members.
struct MessageTag {
  CallKey call = 0;
  uint32_t connection = 0;  // of the plan; below 2^31
  // A clear-to-send from receiver to sender; otherwise a slice of data.
  bool credit = false;
  static MessageTag Of(const Message& message);
  void Write(Message* message) const;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_MESSAGE_TAG_H_
