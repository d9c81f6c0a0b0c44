// A queue of plain events for the case that no event is pushed with a time before that of the last
// pop. Works like EventHeap, but most events wait unordered in buckets of a quarter of a
// microsecond. A bucket is sorted when its time comes, which is faster than as many pops from a
// heap. Only what is pushed into that bucket later goes into a heap.
// `Event` has operator<, a strict order, and a Time `time` that comes first in this order. The
// order of pops does not depend on the order of pushes. Not thread-safe.
#ifndef DRYDOCK_CORE_CONTAINERS_EVENT_WHEEL_H_
#define DRYDOCK_CORE_CONTAINERS_EVENT_WHEEL_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/containers/event_heap.h"

namespace drydock {

template <typename Event>
class EventWheel {
 public:
  bool empty() const { return sorted_.empty() && near_.empty(); }
  const Event& top() const { return IsSortedNext() ? sorted_.back() : near_.top(); }

  void Push(const Event& event) {
    const int64_t bucket = BucketOf(event);
    if (bucket <= current_) {
      near_.Push(event);
    } else if (bucket - current_ < kBuckets) {
      Add(bucket, event);
    } else {
      far_.Push(event);
    }
    if (empty()) Refill();
  }

  Event Pop() {
    if (!IsSortedNext()) {
      const Event event = near_.Pop();
      if (empty()) Refill();
      return event;
    }
    const Event event = sorted_.back();
    sorted_.pop_back();
    if (empty()) Refill();
    return event;
  }

  // Removes the events for which `is_one` holds. O(n).
  template <typename Predicate>
  void Erase(const Predicate& is_one) {
    std::erase_if(sorted_, is_one);
    near_.Erase(is_one);
    far_.Erase(is_one);
    ForEachFilled([&](std::vector<Event>& bucket) { std::erase_if(bucket, is_one); });
    if (empty()) Refill();
  }

  void clear() {
    sorted_.clear();
    near_.clear();
    far_.clear();
    ForEachFilled([](std::vector<Event>& bucket) { bucket.clear(); });
    current_ = 0;
  }

  // Returns the events in the order of their pops.
  std::vector<Event> Sorted() const {
    std::vector<Event> out = near_.Sorted(), far = far_.Sorted();
    out.insert(out.end(), sorted_.begin(), sorted_.end());
    out.insert(out.end(), far.begin(), far.end());
    for (const std::vector<Event>& each : buckets_) out.insert(out.end(), each.begin(), each.end());
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  static constexpr int kBucketBits = 18;  // 262 ns
  static constexpr int64_t kBuckets = 1024;
  static constexpr int64_t kNever = INT64_MAX;
  static constexpr int kWordBits = 64;

  static int64_t BucketOf(const Event& event) { return event.time.ps() >> kBucketBits; }
  static size_t SlotOf(int64_t bucket) { return static_cast<size_t>(bucket) % kBuckets; }

  // `change` may leave a bucket empty.
  template <typename Change>
  void ForEachFilled(const Change& change) {
    for (size_t word = 0; word < filled_.size(); ++word) {
      for (uint64_t bits = filled_[word]; bits != 0; bits &= bits - 1) {
        const auto bit = static_cast<size_t>(std::countr_zero(bits));
        std::vector<Event>& bucket = buckets_[word * kWordBits + bit];
        change(bucket);
        if (bucket.empty()) filled_[word] &= ~(uint64_t{1} << bit);
      }
    }
  }

  bool IsSortedNext() const {
    return near_.empty() || (!sorted_.empty() && sorted_.back() < near_.top());
  }

  void Add(int64_t bucket, const Event& event) {
    const size_t slot = SlotOf(bucket);
    buckets_[slot].push_back(event);
    filled_[slot / kWordBits] |= uint64_t{1} << slot % kWordBits;
  }

  // Returns the first bucket of the wheel after the current one that has events.
  int64_t NextBucket() const {
    const size_t from = SlotOf(current_ + 1);
    for (size_t i = 0; i <= filled_.size(); ++i) {
      const size_t word = (from / kWordBits + i) % filled_.size();
      uint64_t bits = filled_[word];
      if (i == 0) bits &= ~uint64_t{0} << from % kWordBits;
      if (bits == 0) continue;
      const size_t slot = word * kWordBits + static_cast<size_t>(std::countr_zero(bits));
      return current_ + 1 + static_cast<int64_t>((slot - from) % kBuckets);
    }
    return kNever;
  }

  // Makes the next bucket that has events the current one, if there is one.
  void Refill() {
    const int64_t far = far_.empty() ? kNever : BucketOf(far_.top());
    const int64_t next = std::min(NextBucket(), far);
    if (next == kNever) return;
    current_ = next;
    const size_t slot = SlotOf(current_);
    sorted_.swap(buckets_[slot]);
    filled_[slot / kWordBits] &= ~(uint64_t{1} << slot % kWordBits);
    while (!far_.empty() && BucketOf(far_.top()) - current_ < kBuckets) {
      const Event event = far_.Pop();
      if (BucketOf(event) == current_) {
        sorted_.push_back(event);
      } else {
        Add(BucketOf(event), event);
      }
    }
    std::sort(sorted_.begin(), sorted_.end(), [](const Event& a, const Event& b) { return b < a; });
  }

  int64_t current_ = 0;        // bucket
  std::vector<Event> sorted_;  // of the current bucket when its time came; the first one is last
  EventHeap<Event> near_;      // pushed since then, of this bucket and earlier ones
  EventHeap<Event> far_;       // of buckets too far ahead for the wheel
  std::vector<std::vector<Event>> buckets_ = std::vector<std::vector<Event>>(kBuckets);
  std::array<uint64_t, kBuckets / kWordBits> filled_ = {};  // a bit for each of buckets_
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_CONTAINERS_EVENT_WHEEL_H_
