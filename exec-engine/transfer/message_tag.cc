#include "exec-engine/transfer/message_tag.h"

#include "core/base/check.h"

namespace drydock {

MessageTag MessageTag::Of(const Message& message) {
  return {message.tag, message.detail >> 1, (message.detail & 1) != 0};
}

void MessageTag::Write(Message* message) const {
  CHECK_NOTE(connection <= UINT32_MAX >> 1,
             "a connection number exceeds the 31 bits of Message::detail");
  message->tag = call;
  message->detail = connection << 1 | (credit ? 1 : 0);
}

}  // namespace drydock
