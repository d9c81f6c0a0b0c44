// Maps keys to numbers. Keys are added and looked up, never removed or iterated over, so nothing
// depends on their order. Open addressing, at most half full: most look-ups read one slot. `Key` is
// a plain value with ==; `Hasher` mixes all bits of a key into the low bits (hash.h). Not
// thread-safe while keys are added.
#ifndef DRYDOCK_CORE_CONTAINERS_INDEX_TABLE_H_
#define DRYDOCK_CORE_CONTAINERS_INDEX_TABLE_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/containers/hash.h"

namespace drydock {

template <typename Key, typename Hasher = IntegerHash>
class IndexTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The table does not grow before it holds more than `expected` keys.
  explicit IndexTable(size_t expected = 0) : slots_(std::bit_ceil(2 * expected + 2)) {}

  size_t size() const { return size_; }

  // Returns the number of the key; kNone if the table does not have the key.
  uint32_t Find(const Key& key) const { return slots_[PlaceOf(key)].value; }

  // Returns the number of the key. A new key is added with the number `value`.
  // REQUIRES: value != kNone
  uint32_t FindOrAdd(const Key& key, uint32_t value) {
    size_t place = PlaceOf(key);
    if (slots_[place].value != kNone) return slots_[place].value;
    if (2 * ++size_ > slots_.size()) {
      Grow();
      place = PlaceOf(key);
    }
    slots_[place] = {key, value};
    return value;
  }

  // Removes all keys and keeps the memory.
  void Clear() {
    if (size_ > 0) std::fill(slots_.begin(), slots_.end(), Slot());
    size_ = 0;
  }

 private:
  struct Slot {
    Key key{};
    uint32_t value = kNone;
  };

  // The slot of the key, or the free slot where the key belongs.
  size_t PlaceOf(const Key& key) const {
    const size_t mask = slots_.size() - 1;
    size_t place = Hasher()(key) & mask;
    while (slots_[place].value != kNone && !(slots_[place].key == key)) place = (place + 1) & mask;
    return place;
  }

  void Grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value != kNone) slots_[PlaceOf(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two
  size_t size_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_CONTAINERS_INDEX_TABLE_H_
