// Times of a rank by op, which several ranks can hold together: a copy shares them until it is
// written. Replicas in a folded run have the same times, and a run can have thousands of them.
#ifndef DRYDOCK_CORE_MODEL_SHARED_TIMES_H_
#define DRYDOCK_CORE_MODEL_SHARED_TIMES_H_

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/units.h"

namespace drydock {

// Behaves as a vector. Objects that share times can be read on several threads; while one is
// written, no other thread may copy it.
class SharedTimes {
 public:
  SharedTimes() : times_(std::make_shared<std::vector<Time>>()) {}
  // Implicit, as a vector of times is the same value.
  SharedTimes(std::vector<Time> times)  // NOLINT(google-explicit-constructor)
      : times_(std::make_shared<std::vector<Time>>(std::move(times))) {}
  SharedTimes(std::initializer_list<Time> times) : SharedTimes(std::vector<Time>(times)) {}

  const std::vector<Time>& get() const { return *times_; }
  // Returns the times for writing; other objects keep the present ones.
  std::vector<Time>& own() {
    if (times_.use_count() > 1) times_ = std::make_shared<std::vector<Time>>(*times_);
    return *times_;
  }

  size_t size() const { return times_->size(); }
  bool empty() const { return times_->empty(); }
  const Time& operator[](size_t i) const { return (*times_)[i]; }
  Time& operator[](size_t i) { return own()[i]; }
  const Time& back() const { return times_->back(); }
  std::vector<Time>::const_iterator begin() const { return times_->begin(); }
  std::vector<Time>::const_iterator end() const { return times_->end(); }
  void push_back(Time time) { own().push_back(time); }
  void resize(size_t size) { own().resize(size); }

  // Whether both are one object in memory; then they are equal.
  bool SharesWith(const SharedTimes& other) const { return times_ == other.times_; }
  friend bool operator==(const SharedTimes& a, const SharedTimes& b) {
    return a.SharesWith(b) || *a.times_ == *b.times_;
  }

 private:
  std::shared_ptr<std::vector<Time>> times_;  // not null, except after a move
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_SHARED_TIMES_H_
