// A table from keys to numbers that is only added to and looked up: open addressing, at most half
// full, one place in memory a lookup. `Key` is a plain value with ==, `Hash` mixes all its bits.
// Never iterated over, so nothing depends on its order. Not thread-safe while it is added to.
#ifndef DRYDOCK_CORE_CONTAINERS_INDEX_TABLE_H_
#define DRYDOCK_CORE_CONTAINERS_INDEX_TABLE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace drydock {

template <typename Key, typename Hash>
class IndexTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit IndexTable(size_t expected = 0) : slots_(std::bit_ceil(2 * expected + 2)) {}

  size_t size() const { return size_; }

  uint32_t Find(const Key& key) const { return slots_[PlaceOf(key)].value; }

  // The number of a key, which is `value` (not kNone) from now on if it had none.
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

 private:
  struct Slot {
    Key key{};
    uint32_t value = kNone;
  };

  // Where it is, or else where it would be.
  size_t PlaceOf(const Key& key) const {
    const size_t mask = slots_.size() - 1;
    size_t place = Hash()(key) & mask;
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

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

// For numbers.
struct MixHash {
  size_t operator()(uint32_t key) const {
    const uint64_t product = key * uint64_t{0x9e3779b97f4a7c15u};
    return static_cast<size_t>(product >> 32);
  }
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_CONTAINERS_INDEX_TABLE_H_
