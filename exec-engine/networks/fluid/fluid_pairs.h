// The queue pairs of the fluid network: each sends its parts one after another. Computes when the
// last byte of a part leaves its NIC and arrives; FluidFabric has the rates.
//
// The owner of the clock passes the present time, which never decreases, to each call, and calls
// OnWake and OnDrain at the requested times. Not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_PAIRS_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_PAIRS_H_

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "exec-engine/networks/fluid/fluid_fabric.h"
#include "exec-engine/networks/fluid/fluid_paths.h"
#include "exec-engine/networks/fluid/fluid_queue_pair.h"

namespace drydock {

class FluidPairs {
 public:
  class Clock {
   public:
    virtual ~Clock() = default;
    virtual void WakeAt(uint32_t pair, Time when) = 0;
    virtual void DrainAt(uint32_t link, Time when) = 0;
    // A part of the message in `slot` has left. Its last byte and its acknowledgement arrive at
    // these times.
    virtual void OnPart(uint32_t slot, Time arrival, Time acknowledged) = 0;
  };
  // `capacities` in bits per second, by link. All arguments outlive this.
  FluidPairs(const FluidSettings& settings, const FluidPaths& paths,
             const std::vector<int64_t>& capacities, Clock* clock)
      : set_(settings), paths_(paths), clock_(clock), fabric_(capacities) {}

  // Adds an idle queue pair; they are numbered from 0. The links are as for FluidFabric::Add.
  void Add(const FluidQueuePair& pair, const FluidPaths::Uses& data,
           const FluidPaths::Uses& acknowledgements);
  uint32_t count() const { return static_cast<uint32_t>(pairs_.size()); }
  FluidQueuePair& operator[](uint32_t pair) { return pairs_[pair]; }
  const FluidQueuePair& operator[](uint32_t pair) const { return pairs_[pair]; }
  const FluidFabric& fabric() const { return fabric_; }

  // Appends a part to the queue.
  void Send(uint32_t pair, const QueuedPart& part, Time now);
  // Returns the slot of the first part. REQUIRES: the queue is not empty.
  uint32_t FirstSlot(uint32_t pair) const { return parts_.Front(pairs_[pair].parts).slot; }
  void OnWake(uint32_t pair, Time now);
  void OnDrain(uint32_t link, Time now) { fabric_.Drained(link, now); }
  // Call after all events of the present time.
  void Settle(Time now);

  // Call before links change: all parts share from now on. A part whose last byte leaves now ends.
  void StopBypassing(Time now);
  void SetCapacity(uint32_t link, int64_t bits_per_second, Time now) {
    fabric_.SetCapacity(link, bits_per_second, now);
  }
  // The `route` of the queue pair has changed.
  void Move(uint32_t pair, Time now);

 private:
  int64_t WireBytesOfFirst(const FluidQueuePair& pair) const {
    return set_.WireBytes(parts_.Front(pair.parts).bytes);
  }
  Time ArrivalOf(uint32_t pair, int64_t bytes, Time now);
  void Wake(uint32_t pair, Time when);
  void Begin(uint32_t pair);
  void BeginAll(Time now);
  void BeginPart(uint32_t pair, bool bypasses, Time now);
  void FinishPart(uint32_t pair, Time now);
  void Continue(uint32_t pair, Time now);
  void Stop(uint32_t pair, Time now);

  const FluidSettings& set_;
  const FluidPaths& paths_;
  Clock* const clock_;
  FluidFabric fabric_;
  std::vector<FluidQueuePair> pairs_;
  std::vector<uint32_t> beginning_;  // queue pairs that begin a part at the present time
  ListPool<QueuedPart> parts_;
  ListPool<SentPart> sent_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_PAIRS_H_
