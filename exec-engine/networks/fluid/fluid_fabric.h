// The rates of the queue pairs of the fluid network. A part of a message that is larger than the
// window of its queue pair shares all links of its path (FluidSharing). A part that fits into the
// window bypasses fair sharing: it shares only its first link, which is that of its NIC, and on the
// other links waits for the backlog that it finds (FluidBacklogs). If a link on its path is shared
// or runs at a changed rate, a part that fits shares as well. So a sharing flow waits only for the
// backlog at the time it began.
//
// Rates in bits per second. Not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_FABRIC_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_FABRIC_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "exec-engine/networks/fluid/fluid_backlogs.h"
#include "exec-engine/networks/fluid/fluid_sharing.h"

namespace drydock {

class FluidFabric {
 public:
  using Use = FluidSharing::Use;
  // `capacities` by link; 0: the link is down.
  explicit FluidFabric(const std::vector<int64_t>& capacities);

  // Returns the number of the queue pair, counted from 0. It is idle at first. The first link of
  // `data` is that of its NIC. `limit` is the rate that its window allows, above 0.
  uint32_t Add(std::span<const Use> data, std::span<const Use> acknowledgements, int64_t limit);
  // The queue pair takes another path from now on. Without links its rate is 0.
  void Move(uint32_t pair, std::span<const Use> data, std::span<const Use> acknowledgements,
            Time now);
  void SetCapacity(uint32_t link, int64_t bits_per_second, Time now);
  // Call before links change. The queue pairs that bypass fair sharing share from now on, with rate
  // 0 until Solve. Returns them.
  std::vector<uint32_t> StopBypassing(Time now);

  // Returns whether a part that fits may bypass fair sharing. REQUIRES: the queue pair is idle, and
  // the sharing parts that begin at this time have begun.
  bool MayBypass(uint32_t pair) const;
  // The rate is at most `pace`, which is above 0.
  void BeginBypassing(uint32_t pair, int64_t pace);
  void Begin(uint32_t pair, Time now);
  void End(uint32_t pair, Time now);
  bool bypasses(uint32_t pair) const { return pairs_[pair].bypasses; }

  // Returns whether all rates are up to date. Solve updates them and calls `changed(pair, rate)`
  // for each change; the last call for a pair has its rate.
  bool settled() const { return sharing_.settled(); }
  template <typename Changed>
  void Solve(Time now, const Changed& changed) {
    for (int round = 0; round < kMaxRounds && !settled(); ++round) {
      for (const uint32_t pair : sharing_.Solve()) {
        if (!pairs_[pair].active) continue;
        SetRate(pair, sharing_.rate(pair), now);
        changed(pair, pairs_[pair].rate);
      }
    }
  }
  // Returns the links whose sharing flows wait for a backlog, and when it drains; each once. The
  // caller calls Drained at that time.
  std::vector<std::pair<uint32_t, Time>> TakeDrains() { return std::exchange(to_drain_, {}); }
  void Drained(uint32_t link, Time now);

  // Returns how long the bytes that the queue pair sends now wait for backlogs; 0 if it shares.
  Time Wait(uint32_t pair, Time now);

  // The following are those of FluidSharing with the same names.
  int64_t bound(uint32_t pair) const { return sharing_.bound(pair); }
  std::span<const Use> data(uint32_t pair) const { return sharing_.data(pair); }
  std::span<const Use> acknowledgements(uint32_t pair) const {
    return sharing_.acknowledgements(pair);
  }
  size_t pairs_on(uint32_t link) const { return sharing_.flows_on(link); }
  const FluidSharing::Counts& counts() const { return sharing_.counts(); }

 private:
  // A bound of the method. If backlogs change rates after the last round, the changes wait for the
  // next Solve.
  static constexpr int kMaxRounds = 4;

  struct Pair {
    bool active = false, bypasses = false;
    int64_t rate = 0;
  };
  std::span<const Use> Behind(uint32_t pair) const { return data(pair).subspan(1); }
  void SetRate(uint32_t pair, int64_t rate, Time now);
  void Reserve(uint32_t link, Time now);

  FluidSharing sharing_;    // flow i is queue pair i
  FluidBacklogs backlogs_;  // of parts that bypass fair sharing
  std::vector<Pair> pairs_;
  // By link: the capacity without faults, whether faults changed it, and when it was last predicted
  // to drain.
  const std::vector<int64_t> nominal_;
  std::vector<bool> changed_;
  std::vector<Time> drains_;
  std::vector<std::pair<uint32_t, Time>> to_drain_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_FABRIC_H_
