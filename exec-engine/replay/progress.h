// The progress of a replay, host by host. The thread that runs a host writes; any thread may read
// at any time, signal handlers included. The counters of one snapshot may belong to different
// moments.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_PROGRESS_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_PROGRESS_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

#include "core/base/units.h"

namespace drydock {

class Progress {
 public:
  // The progress of one host, with a single writer.
  struct alignas(64) Host {
    std::atomic<int64_t> ops{0};     // that have ended
    std::atomic<int64_t> events{0};  // op starts and ends, slices, messages
    std::atomic<int64_t> now_ps{0};

    void Set(int64_t ops_ended, int64_t all_events, Time now) {
      ops.store(ops_ended, std::memory_order_relaxed);
      events.store(all_events, std::memory_order_relaxed);
      now_ps.store(now.ps(), std::memory_order_relaxed);
    }
  };
  struct Snapshot {
    int64_t ops = 0, all_ops = 0;
    int64_t events = 0;
    Time now, until;  // simulated; until == Time::Max(): to the end of all ops
  };

  // Begins a replay, before its first host runs. `all_ops` is the number of ops of all `hosts`.
  void Begin(int hosts, int64_t all_ops, Time until) {
    replays_.push_back({std::make_unique<Host[]>(static_cast<size_t>(hosts)), hosts,
                        std::make_unique<std::atomic<int64_t>>(all_ops), until});
    now_.store(&replays_.back(), std::memory_order_release);
  }
  // The replay goes on with fewer ops.
  void Shorten(int64_t all_ops) {
    replays_.back().all_ops->store(all_ops, std::memory_order_relaxed);
  }
  Host* host(int index) { return &replays_.back().hosts[static_cast<size_t>(index)]; }

  // Returns a snapshot of the latest replay, zeros before the first one.
  Snapshot Now() const {
    Snapshot sum;
    const OfReplay* replay = now_.load(std::memory_order_acquire);
    if (replay == nullptr) return sum;
    sum.all_ops = replay->all_ops->load(std::memory_order_relaxed);
    sum.until = replay->until;
    for (int i = 0; i < replay->count; ++i) {
      const Host& host = replay->hosts[static_cast<size_t>(i)];
      sum.ops += host.ops.load(std::memory_order_relaxed);
      sum.events += host.events.load(std::memory_order_relaxed);
      const Time now = Time::Ps(host.now_ps.load(std::memory_order_relaxed));
      if (now > sum.now) sum.now = now;
    }
    return sum;
  }

 private:
  struct OfReplay {
    std::unique_ptr<Host[]> hosts;
    int count = 0;
    std::unique_ptr<std::atomic<int64_t>> all_ops;
    Time until;
  };

  std::deque<OfReplay> replays_;  // all replays so far: a reader may still use an earlier one
  std::atomic<const OfReplay*> now_{nullptr};
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_PROGRESS_H_
