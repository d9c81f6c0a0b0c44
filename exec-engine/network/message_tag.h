// How messages say what they are for.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORK_MESSAGE_TAG_H_
#define DRYDOCK_EXEC_ENGINE_NETWORK_MESSAGE_TAG_H_

#include <cstdint>

#include "exec-engine/network/network.h"

namespace drydock {

// One call of a communicator, as both ends name it: group << 32 | sequence (ReplayIndex).
using CallKey = uint64_t;
inline CallKey MakeCallKey(uint32_t group, uint32_t sequence) {
  return static_cast<CallKey>(group) << 32 | sequence;
}

inline constexpr CallKey kNoCall = UINT64_MAX;

// What a message is for: Message::tag is the call's key, Message::detail the rest.
struct MessageTag {
  CallKey call = 0;
  uint32_t connection = 0;  // of the plan; 31 bits
  bool credit = false;      // clear to send, from receiver to sender; otherwise a slice of data
  static MessageTag Of(const Message& message);
  void Write(Message* message) const;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORK_MESSAGE_TAG_H_
