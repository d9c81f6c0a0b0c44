#include "workload-gen/program/ring_shift.h"

#include <utility>
#include <vector>

#include "core/model/calls/grouped_call.h"

namespace drydock {

CommCall RingShift(int ranks, DataType type, int64_t count, int hop, BufferKind buffers) {
  std::vector<CommCall> messages;
  for (int rank = 0; rank < ranks; ++rank) {
    CommCall message;
    message.collective = CollectiveType::kSendRecv;
    message.type = type;
    message.count = count;
    message.group_size = ranks;
    message.buffers = buffers;
    message.root = rank;
    message.peer = (rank + hop + ranks) % ranks;
    messages.push_back(message);
  }
  return MakeGrouped(std::move(messages));
}

}  // namespace drydock
