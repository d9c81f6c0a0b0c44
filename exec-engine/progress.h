// How far a replay is, counted by hosts on any thread and told to one listener now and then.
#ifndef DRYDOCK_EXEC_ENGINE_PROGRESS_H_
#define DRYDOCK_EXEC_ENGINE_PROGRESS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace drydock {

class Progress {
 public:
  Progress(int64_t all, std::function<void(int64_t, int64_t)> listener)
      : all_(all), listener_(std::move(listener)) {}

  // Thread-safe. One thread at a time is in the listener, about every hundredth of the way.
  void Add(int64_t ended) {
    if (!listener_) return;
    const int64_t before = ended_.fetch_add(ended, std::memory_order_relaxed);
    const int64_t step = all_ / 100 + 1;
    if (before / step == (before + ended) / step) return;
    if (busy_.test_and_set(std::memory_order_acquire)) return;
    listener_(before + ended, all_);
    busy_.clear(std::memory_order_release);
  }

 private:
  const int64_t all_;
  std::function<void(int64_t, int64_t)> listener_;
  std::atomic<int64_t> ended_{0};
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_PROGRESS_H_
