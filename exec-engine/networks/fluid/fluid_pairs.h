// The queue pairs of the fluid network: what each sends, one part after another, and when the last
// byte of a part has left its NIC and arrives. What they have of the links is FluidFabric's.
//
// Whoever has the clock tells the time with each call, which never goes back, and calls OnWake and
// OnDrain when it was asked to. Not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_PAIRS_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_PAIRS_H_

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "exec-engine/networks/fluid/fluid_fabric.h"
#include "exec-engine/networks/fluid/fluid_queue_pair.h"
#include "exec-engine/networks/fluid/fluid_ways.h"

namespace drydock {

class FluidPairs {
 public:
  class Clock {
   public:
    virtual ~Clock() = default;
    virtual void WakeAt(uint32_t pair, Time when) = 0;
    virtual void DrainAt(uint32_t link, Time when) = 0;
    // A part of what is in `slot` is through: its last byte arrives, and its sender knows.
    virtual void OnPart(uint32_t slot, Time arrival, Time acknowledged) = 0;
  };
  // `capacities` in bits per second, by link. All outlive this.
  FluidPairs(const FluidSettings& settings, const FluidWays& ways,
             const std::vector<int64_t>& capacities, Clock* clock)
      : set_(settings), ways_(ways), clock_(clock), fabric_(capacities) {}

  // Numbered from 0; idle. `data`, `acknowledgements`: as FluidFabric::Add's.
  void Add(const FluidQueuePair& pair, const FluidWays::Uses& data,
           const FluidWays::Uses& acknowledgements);
  uint32_t count() const { return static_cast<uint32_t>(pairs_.size()); }
  FluidQueuePair& operator[](uint32_t pair) { return pairs_[pair]; }
  const FluidQueuePair& operator[](uint32_t pair) const { return pairs_[pair]; }
  const FluidFabric& fabric() const { return fabric_; }

  // Behind what it has. `ready`: when its bytes are at the NIC.
  void Send(uint32_t pair, const QueuedPart& part, Time now);
  // The slot of what it is sending, or is to send first; there must be something.
  uint32_t FirstSlot(uint32_t pair) const { return parts_.Front(pairs_[pair].parts).slot; }
  void OnWake(uint32_t pair, Time now);
  void OnDrain(uint32_t link, Time now) { fabric_.Drained(link, now); }
  // All that happens now has happened.
  void Settle(Time now);

  // Nothing is ahead where cables come and go. A part whose last byte has just left has left.
  void HoldBack(Time now);
  void SetCapacity(uint32_t link, int64_t bits_per_second, Time now) {
    fabric_.SetCapacity(link, bits_per_second, now);
  }
  // Its `way` has changed.
  void Move(uint32_t pair, Time now);

 private:
  int64_t WireBytesOfFirst(const FluidQueuePair& pair) const {
    return set_.WireBytes(parts_.Front(pair.parts).bytes);
  }
  Time ArrivalOf(uint32_t pair, int64_t bytes, Time now);
  void Wake(uint32_t pair, Time when);
  void Begin(uint32_t pair);
  void BeginAll(Time now);
  void BeginPart(uint32_t pair, bool ahead, Time now);
  void FinishPart(uint32_t pair, Time now);
  void Continue(uint32_t pair, Time now);
  void Stop(uint32_t pair, Time now);

  const FluidSettings& set_;
  const FluidWays& ways_;
  Clock* const clock_;
  FluidFabric fabric_;
  std::vector<FluidQueuePair> pairs_;
  std::vector<uint32_t> beginning_;  // at this instant
  ListPool<QueuedPart> parts_;
  ListPool<SentPart> sent_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_PAIRS_H_
