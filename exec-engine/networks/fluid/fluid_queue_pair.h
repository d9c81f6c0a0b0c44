// A queue pair of the fluid network: what it has to send, in order, and how far the first of it has
// come. Time in whole picoseconds, rates in whole bits per second; what is left of a part is kept
// in bits times picoseconds per second, so that nothing is rounded but the time at which it ends.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_QUEUE_PAIR_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_QUEUE_PAIR_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "exec-engine/networks/fluid/fluid_ways.h"

namespace drydock {

// A message, or a part of one, that waits for its turn.
struct QueuedPart {
  uint32_t slot = 0;  // of the message
  int64_t bytes = 0;
  Time ready;  // when its bytes are at the NIC
};

// One that has left the NIC.
struct SentPart {
  int64_t bytes = 0;  // with headers
  Time first, last;   // when the sender knows that its first and its last byte have arrived
};

// First in, first out; the elements are in a ListPool.
struct ListEnds {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t first = kNone, last = kNone;
  bool empty() const { return first == kNone; }
};

template <typename T>
class ListPool {
 public:
  void Append(ListEnds* list, const T& element) {
    uint32_t place = free_;
    if (place == ListEnds::kNone) {
      place = static_cast<uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      free_ = nodes_[place].next;
    }
    nodes_[place] = {element, ListEnds::kNone};
    (list->empty() ? list->first : nodes_[list->last].next) = place;
    list->last = place;
  }
  const T& Front(const ListEnds& list) const { return nodes_[list.first].element; }
  void Pop(ListEnds* list) {
    const uint32_t place = list->first;
    list->first = nodes_[place].next;
    nodes_[place].next = free_;
    free_ = place;
  }
  template <typename Visit>
  void ForEach(const ListEnds& list, const Visit& visit) const {
    for (uint32_t i = list.first; i != ListEnds::kNone; i = nodes_[i].next)
      visit(nodes_[i].element);
  }

 private:
  struct Node {
    T element;
    uint32_t next = ListEnds::kNone;
  };
  std::vector<Node> nodes_;
  uint32_t free_ = ListEnds::kNone;
};

struct FluidQueuePair {
  static constexpr int64_t kPsPerSecond = 1'000'000'000'000;

  FluidEnds way;
  ListEnds parts, unacknowledged;
  int64_t window = 0;         // bytes with headers that may be unacknowledged
  bool sending = false;       // its first part is on the wire
  Time first_known;           // when the sender knows that its first byte has arrived
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
    finish = Time::Max();  // unless it is before the end of time
    if (rate == 0) return;
    const __int128 ps = (left + rate - 1) / rate;
    if (ps < Time::Max().ps() - now.ps()) finish = now + Time::Ps(static_cast<int64_t>(ps));
  }

  // What is acknowledged.
  void Forget(ListPool<SentPart>* sent, Time now) {
    while (!unacknowledged.empty() && sent->Front(unacknowledged).last <= now) {
      sent->Pop(&unacknowledged);
    }
  }
  // The rate at which the last byte of the first part leaves just when the window has room for it;
  // `none` if it has room now.
  int64_t Pace(ListPool<SentPart>* sent, Time now, int64_t none) {
    Forget(sent, now);
    int64_t excess = static_cast<int64_t>(left / (8 * kPsPerSecond)) - window;
    sent->ForEach(unacknowledged, [&](const SentPart& part) { excess += part.bytes; });
    Time room = now;
    sent->ForEach(unacknowledged, [&](const SentPart& part) {
      if (excess <= 0) return;
      const auto span = static_cast<__int128>((part.last - part.first).ps());
      const int64_t of_it = std::min(excess, part.bytes);
      room = std::max(room, part.first + Time::Ps(static_cast<int64_t>(span * of_it / part.bytes)));
      excess -= part.bytes;
    });
    if (room == now) return none;
    const __int128 pace = left / (room - now).ps();
    return pace < none ? std::max<int64_t>(static_cast<int64_t>(pace), 1) : none;
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

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_QUEUE_PAIR_H_
