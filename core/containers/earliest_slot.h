// Keeps a time for each of a fixed number of slots and returns the slot with the earliest time, the
// lowest slot among equals. A tournament tree: each node has the earlier of its two children.
// Set() repeats one comparison on each level. Not thread-safe.
#ifndef DRYDOCK_CORE_CONTAINERS_EARLIEST_SLOT_H_
#define DRYDOCK_CORE_CONTAINERS_EARLIEST_SLOT_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/units.h"

namespace drydock {

class EarliestSlot {
 public:
  // All slots begin at Time::Max().
  explicit EarliestSlot(size_t slots) : leaves_(std::bit_ceil(slots + 1)), players_(2 * leaves_) {
    for (uint32_t slot = 0; slot < leaves_; ++slot) players_[leaves_ + slot].slot = slot;
    for (size_t node = leaves_; node-- > 1;) players_[node] = players_[2 * node];
  }

  Time time() const { return players_[1].time; }  // the earliest
  uint32_t slot() const { return players_[1].slot; }
  Time time_of(uint32_t slot) const { return players_[leaves_ + slot].time; }

  // The end of the loop is its only branch, so mispredictions are rare.
  void Set(uint32_t slot, Time time) {
    Player winner = {time, slot};
    size_t node = leaves_ + slot;
    for (; node > 1; node /= 2) {
      players_[node] = winner;
      const Player other = players_[node ^ 1];
      // Among equals the left node wins, which is `other` if this node is a right one.
      const bool loses = other.time.ps() - static_cast<int64_t>(node & 1) < winner.time.ps();
      winner.time = loses ? other.time : winner.time;
      winner.slot = loses ? other.slot : winner.slot;
    }
    players_[1] = winner;
  }

 private:
  struct Player {
    Time time = Time::Max();
    uint32_t slot = 0;
  };
  size_t leaves_;
  std::vector<Player> players_;  // the root is 1, the leaves are last
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_CONTAINERS_EARLIEST_SLOT_H_
