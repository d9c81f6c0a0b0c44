// A queue pair of the fluid network: the parts of messages that it has to send, in order, and the
// progress of the first. Times in whole picoseconds, rates in whole bits per second. The rest of a
// part is in bits times picoseconds per second, so that only the time of its end is rounded.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_QUEUE_PAIR_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_QUEUE_PAIR_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "exec-engine/networks/fluid/fluid_paths.h"

namespace drydock {

// A message, or a part of one, that waits to be sent.
struct QueuedPart {
  uint32_t slot = 0;  // of the message
  int64_t bytes = 0;
  Time ready;  // when its bytes are at the NIC
};

// A part that has left the NIC.
struct SentPart {
  int64_t bytes = 0;  // includes headers
  Time first, last;   // when the sender learns that the first and the last byte have arrived
};

// A FIFO list, whose elements are in a ListPool.
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

  FluidRoute route;
  ListEnds parts, unacknowledged;
  int64_t window = 0;         // bytes that may be unacknowledged, headers included
  bool sending = false;       // its first part is on the wire
  Time first_known;           // when the sender learns that the first byte of the part has arrived
  int64_t rate = 0;           // since `since`
  Time since;                 // when `left` held
  __int128 left = 0;          // of the first part
  Time finish = Time::Max();  // of the first part, at this rate
  Time wake = Time::Max();    // the next event that counts; earlier ones are void
  Time ack_time;              // from the arrival of the last byte to that of its acknowledgement
  Time extra_latency;         // of the mean path of a folded connection over its own path
  int64_t slowest_rate = 0;   // of the links of the path, without faults
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
    finish = Time::Max();  // stays so if the part ends after the last time
    if (rate == 0) return;
    const __int128 ps = (left + rate - 1) / rate;
    if (ps < Time::Max().ps() - now.ps()) finish = now + Time::Ps(static_cast<int64_t>(ps));
  }

  // Drops the parts that are acknowledged.
  void Forget(ListPool<SentPart>* sent, Time now) {
    while (!unacknowledged.empty() && sent->Front(unacknowledged).last <= now) {
      sent->Pop(&unacknowledged);
    }
  }
  // Returns the rate at which the last byte of the first part leaves when the window gets room for
  // it; `none` if the window has room now.
  int64_t Pace(ListPool<SentPart>* sent, Time now, int64_t none) {
    Forget(sent, now);
    int64_t excess = static_cast<int64_t>(left / (8 * kPsPerSecond)) - window;
    sent->ForEach(unacknowledged, [&](const SentPart& part) { excess += part.bytes; });
    Time room = now;
    sent->ForEach(unacknowledged, [&](const SentPart& part) {
      if (excess <= 0) return;
      const auto span = static_cast<__int128>((part.last - part.first).ps());
      const int64_t needed = std::min(excess, part.bytes);
      room =
          std::max(room, part.first + Time::Ps(static_cast<int64_t>(span * needed / part.bytes)));
      excess -= part.bytes;
    });
    if (room == now) return none;
    const __int128 pace = left / (room - now).ps();
    return pace < none ? std::max<int64_t>(static_cast<int64_t>(pace), 1) : none;
  }

  // Returns FluidPaths::Tail and the extra latency. Caches two sizes, because the messages of a
  // connection have few sizes.
  Time Tail(const FluidPaths& paths, int64_t bytes) {
    for (Known& each : known) {
      if (each.bytes == bytes) return each.tail;
    }
    std::swap(known[0], known[1]);
    known[0] = {bytes, Time::Ps(paths.Tail(route, bytes)) + extra_latency};
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
