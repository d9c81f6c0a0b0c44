// A queue pair of the fluid network: what it has to send, in order, and how far the first of it has
// come. Time in whole picoseconds, rates in whole bits per second; what is left of a part is kept
// in bits times picoseconds per second, so that nothing is rounded but the time at which it ends.
#ifndef DRYDOCK_EXEC_ENGINE_FLUID_QUEUE_PAIR_H_
#define DRYDOCK_EXEC_ENGINE_FLUID_QUEUE_PAIR_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "exec-engine/fluid_ways.h"

namespace drydock {

// A message, or a part of one, that waits for its turn.
struct QueuedPart {
  uint32_t slot = 0;  // of the message
  int64_t bytes = 0;
  Time ready;  // when its bytes are at the NIC
};

// First in, first out; the elements are in a PartPool.
struct PartQueue {
  static constexpr uint32_t kEnd = UINT32_MAX;
  uint32_t first = kEnd, last = kEnd;
  bool empty() const { return first == kEnd; }
};

class PartPool {
 public:
  void Append(PartQueue* queue, const QueuedPart& part) {
    uint32_t place = free_;
    if (place == PartQueue::kEnd) {
      place = static_cast<uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      free_ = nodes_[place].next;
    }
    nodes_[place] = {part, PartQueue::kEnd};
    (queue->empty() ? queue->first : nodes_[queue->last].next) = place;
    queue->last = place;
  }
  const QueuedPart& Front(const PartQueue& queue) const { return nodes_[queue.first].part; }
  void Pop(PartQueue* queue) {
    const uint32_t place = queue->first;
    queue->first = nodes_[place].next;
    nodes_[place].next = free_;
    free_ = place;
  }

 private:
  struct Node {
    QueuedPart part;
    uint32_t next = PartQueue::kEnd;
  };
  std::vector<Node> nodes_;
  uint32_t free_ = PartQueue::kEnd;
};

struct FluidQueuePair {
  static constexpr int64_t kPsPerSecond = 1'000'000'000'000;

  FluidEnds way;
  PartQueue parts;
  bool sending = false;       // its first part is on the wire
  int64_t rate = 0;           // since `since`
  Time since;                 // when `left` held
  __int128 left = 0;          // of the first part
  Time finish = Time::Max();  // of the first part, at this rate
  Time wake = Time::Max();    // of the next event that is meant
  Time ack_time;              // from the last byte in until the sender knows
  Time longer;                // its way is taken to be, if it stands for others
  int64_t slowest_rate = 0;   // of the links of its way, without faults
  int64_t sent_bits = 0;      // on the wire

  void StartPart(int64_t wire_bytes, Time now) {
    left = static_cast<__int128>(wire_bytes * 8) * kPsPerSecond;
    since = now;
    finish = Time::Max();
  }
  void SetRate(int64_t bits_per_second, Time now) {
    left = std::max<__int128>(left - static_cast<__int128>(rate) * (now - since).ps(), 0);
    since = now;
    rate = bits_per_second;
    FindFinish(now);
  }
  void FindFinish(Time now) {
    finish =
        rate == 0 ? Time::Max() : now + Time::Ps(static_cast<int64_t>((left + rate - 1) / rate));
  }

  // FluidWays::Tail; a connection knows few sizes.
  Time Tail(const FluidWays& ways, int64_t bytes) {
    for (Known& each : known) {
      if (each.bytes == bytes) return each.tail;
    }
    std::swap(known[0], known[1]);
    known[0] = {bytes, Time::Ps(ways.Tail(way, bytes)) + longer};
    return known[0].tail;
  }
  struct Known {
    int64_t bytes = 0;
    Time tail;
  };
  Known known[2];
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_FLUID_QUEUE_PAIR_H_
