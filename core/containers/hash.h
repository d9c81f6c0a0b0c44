// Hashes of plain values for look-up tables. Use them only to find an entry whose key is then
// compared. A hash that decides a result (ECMP, jitter, the halves of a fit) is defined where it is
// used, so that a change of this file moves no prediction. C++17, because libhacknccl includes it.
#ifndef DRYDOCK_CORE_CONTAINERS_HASH_H_
#define DRYDOCK_CORE_CONTAINERS_HASH_H_

#include <cstddef>
#include <cstdint>

namespace drydock {

// The increment of SplitMix64: 2^64 divided by the golden ratio, made odd.
inline constexpr uint64_t kSplitMixIncrement = 0x9e3779b97f4a7c15u;

// The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014). A bijection: every bit of the result depends on every bit of `value`.
constexpr uint64_t MixBits(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

// Returns the hash of a sequence that ends with `value`. `hash` is the hash of the values before
// it, 0 if there are none. The order of the values matters.
constexpr uint64_t HashCombine(uint64_t hash, uint64_t value) {
  return MixBits((hash ^ value) + kSplitMixIncrement);
}

// Returns the hash of integers and enumerators in this order.
template <typename... Values>
constexpr uint64_t HashOf(Values... values) {
  uint64_t hash = 0;
  ((hash = HashCombine(hash, static_cast<uint64_t>(values))), ...);
  return hash;
}

// Hash functions of tables whose keys are integers, or ranges of integers.
struct IntegerHash {
  constexpr size_t operator()(uint64_t key) const { return static_cast<size_t>(MixBits(key)); }
};
struct RangeHash {
  template <typename Range>
  constexpr size_t operator()(const Range& range) const {
    uint64_t hash = 0;
    for (const auto& value : range) hash = HashCombine(hash, static_cast<uint64_t>(value));
    return static_cast<size_t>(hash);
  }
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_CONTAINERS_HASH_H_
