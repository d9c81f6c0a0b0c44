// Calls a function at an interval, on its own thread, until it is destroyed.
#ifndef DRYDOCK_CORE_PROGRESS_TICKER_H_
#define DRYDOCK_CORE_PROGRESS_TICKER_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace drydock {

class Ticker {
 public:
  Ticker(std::chrono::milliseconds interval, std::function<void()> tick)
      : thread_([this, interval, tick = std::move(tick)] {
          std::unique_lock<std::mutex> lock(mutex_);
          while (!stopped_.wait_for(lock, interval, [this] { return stop_; })) tick();
        }) {}
  ~Ticker() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    stopped_.notify_one();
    thread_.join();
  }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_PROGRESS_TICKER_H_
