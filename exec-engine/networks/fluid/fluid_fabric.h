// What each queue pair of the fluid network has of the links of the fabric. A part that is larger
// than its queue pair's window shares all links of its way with the others (FluidSharing). One that
// fits goes ahead: it shares its first link, its NIC's, and waits on the others behind what came
// there before (FluidQueues). But where somebody shares one of those, or one has not the rate that
// it was made with and may change again, it shares its way as well: so nobody who shares waits for
// more than what was ahead when it began.
//
// Rates in bits per second. Not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_FABRIC_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_FABRIC_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "exec-engine/networks/fluid/fluid_queues.h"
#include "exec-engine/networks/fluid/fluid_sharing.h"

namespace drydock {

class FluidFabric {
 public:
  using Use = FluidSharing::Use;
  // By link; 0 is a link that is down.
  explicit FluidFabric(const std::vector<int64_t>& capacities);

  // Queue pairs are numbered from 0, and idle at first. Of its links, the first in `data` is its
  // NIC's. `limit`: what its window lets through; above 0.
  uint32_t Add(std::span<const Use> data, std::span<const Use> acknowledgements, int64_t limit);
  // It takes another way from now on. Without links it gets nothing.
  void Move(uint32_t pair, std::span<const Use> data, std::span<const Use> acknowledgements,
            Time now);
  void SetCapacity(uint32_t link, int64_t bits_per_second, Time now);
  // What goes ahead shares all its links from now on, and has nothing until it is solved: before
  // links change. Returns those.
  std::vector<uint32_t> HoldBack(Time now);

  // Of an idle queue pair: whether a part that fits goes ahead. Who shares is to begin before those
  // are asked that begin at the same time.
  bool MayGoAhead(uint32_t pair) const;
  // At `pace` at most; above 0.
  void BeginAhead(uint32_t pair, int64_t pace);
  void Begin(uint32_t pair, Time now);
  void End(uint32_t pair, Time now);
  bool ahead(uint32_t pair) const { return pairs_[pair].ahead; }

  // Whether all rates are right. If not, Solve makes them so, and calls `changed(pair, rate)` for
  // those that change; of a pair maybe more than once, the last time with its rate.
  bool settled() const { return sharing_.settled(); }
  template <typename Changed>
  void Solve(Time now, const Changed& changed) {
    for (int round = 0; round < kMostRounds && !settled(); ++round) {
      for (const uint32_t pair : sharing_.Solve()) {
        if (!pairs_[pair].active) continue;
        SetRate(pair, sharing_.rate(pair), now);
        changed(pair, pairs_[pair].rate);
      }
    }
  }
  // Links where what shares has to be told when nothing waits any more, and when that will be; each
  // once. Drained is to be called then.
  std::vector<std::pair<uint32_t, Time>> TakeDrains() { return std::exchange(to_drain_, {}); }
  void Drained(uint32_t link, Time now);

  // How long what a queue pair sends now waits on its way; nothing if it shares.
  Time Wait(uint32_t pair, Time now);

  // FluidSharing's of the same names.
  int64_t bound(uint32_t pair) const { return sharing_.bound(pair); }
  std::span<const Use> data(uint32_t pair) const { return sharing_.data(pair); }
  std::span<const Use> acknowledgements(uint32_t pair) const {
    return sharing_.acknowledgements(pair);
  }
  size_t pairs_on(uint32_t link) const { return sharing_.flows_on(link); }
  const FluidSharing::Counts& counts() const { return sharing_.counts(); }

 private:
  // What a rate moves through the queues then waits for the next change.
  static constexpr int kMostRounds = 4;

  struct Pair {
    bool active = false, ahead = false;
    int64_t rate = 0;
  };
  std::span<const Use> Behind(uint32_t pair) const { return data(pair).subspan(1); }
  void SetRate(uint32_t pair, int64_t rate, Time now);
  void SetAside(uint32_t link, Time now);

  FluidSharing sharing_;  // flow i is queue pair i
  FluidQueues queues_;    // of what goes ahead
  std::vector<Pair> pairs_;
  // By link: the capacity it was made with, whether it has another, and when it was last said to
  // drain.
  const std::vector<int64_t> made_;
  std::vector<bool> changed_;
  std::vector<Time> drains_;
  std::vector<std::pair<uint32_t, Time>> to_drain_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_FABRIC_H_
