// A four-ary min-heap of plain events. `Event` has operator<, a strict order without ties among
// events that can be pending together, so the order of pops does not depend on the order of pushes.
// Push and Pop are O(log n) and allocate only while the heap grows. Not thread-safe.
#ifndef DRYDOCK_CORE_CONTAINERS_EVENT_HEAP_H_
#define DRYDOCK_CORE_CONTAINERS_EVENT_HEAP_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace drydock {

template <typename Event>
class EventHeap {
 public:
  bool empty() const { return events_.empty(); }
  size_t size() const { return events_.size(); }
  const Event& top() const { return events_.front(); }
  void clear() { events_.clear(); }
  // Returns the events in the order of their pops.
  std::vector<Event> Sorted() const {
    std::vector<Event> out = events_;
    std::sort(out.begin(), out.end());
    return out;
  }

  void Push(const Event& event) {
    events_.push_back(event);
    Rise(events_.size() - 1, event);
  }

  // Removes the events for which `is_one` holds. O(n log n).
  template <typename Predicate>
  void Erase(const Predicate& is_one) {
    std::vector<Event> rest;
    for (const Event& event : events_) {
      if (!is_one(event)) rest.push_back(event);
    }
    events_.clear();
    for (const Event& event : rest) Push(event);
  }

  Event Pop() {
    const Event result = events_.front();
    const Event last = events_.back();
    events_.pop_back();
    if (!events_.empty()) Sink(last);
    return result;
  }

 private:
  static constexpr size_t kArity = 4;

  // Moves the hole down to a leaf and `event` up from there. `event` was a leaf, so it rarely rises
  // far.
  void Sink(const Event& event) {
    const size_t size = events_.size();
    size_t i = 0;
    for (size_t first = 1; first < size; first = i * kArity + 1) {
      const size_t end = first + kArity < size ? first + kArity : size;
      size_t least = first;
      for (size_t child = first + 1; child < end; ++child) {
        if (events_[child] < events_[least]) least = child;
      }
      events_[i] = events_[least];
      i = least;
    }
    Rise(i, event);
  }

  void Rise(size_t i, const Event& event) {
    while (i > 0) {
      const size_t parent = (i - 1) / kArity;
      if (!(event < events_[parent])) break;
      events_[i] = events_[parent];
      i = parent;
    }
    events_[i] = event;
  }

  std::vector<Event> events_;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_CONTAINERS_EVENT_HEAP_H_
