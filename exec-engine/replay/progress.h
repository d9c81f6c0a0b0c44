// How far a replay is, host by host: written by whichever thread runs a host, read by anyone at any
// time, a signal handler included. What is read at once need not be of the same moment.
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
  // Of one host; its only writer is the one that runs the host.
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
    Time now, until;  // of simulated time; Time::Max(): to the end
  };

  // Before the first host of a replay runs; what was told of the replay before ends with it.
  // `all_ops` of all these hosts together.
  void Begin(int hosts, int64_t all_ops, Time until) {
    replays_.push_back(
        {std::make_unique<Host[]>(static_cast<size_t>(hosts)), hosts, all_ops, until});
    now_.store(&replays_.back(), std::memory_order_release);
  }
  Host* host(int index) { return &replays_.back().hosts[static_cast<size_t>(index)]; }

  // Before Begin: nothing of nothing.
  Snapshot Now() const {
    Snapshot sum;
    const OfReplay* replay = now_.load(std::memory_order_acquire);
    if (replay == nullptr) return sum;
    sum.all_ops = replay->all_ops;
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
    int64_t all_ops = 0;
    Time until;
  };

  std::deque<OfReplay> replays_;  // all there were: someone may still read an earlier one
  std::atomic<const OfReplay*> now_{nullptr};
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_PROGRESS_H_
