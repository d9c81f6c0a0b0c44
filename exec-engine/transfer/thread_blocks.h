// Walks the steps of channel programs slice by slice, as NCCL's thread blocks do.
//
// A runner begins a slice when its previous slice has ended, the data is there on every connection
// from which it receives, and a slot is free on every connection to which it sends. The gather of
// NVLS, whose steps for all heads are one primitive, begins when the data of all heads is there
// (ncclNvlsAllReduce: one gather receives from all heads). The slice takes
//     [synchronization, at a step's first slice] + max(work of the thread block, ports crossed).
// Its data is at a peer of the same host one link latency later. A slice for another host, and a
// slot that becomes free for another host, are events for the proxy (proxy.h).
//
// Not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_THREAD_BLOCKS_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_THREAD_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <span>

#include "exec-engine/host/ports.h"
#include "exec-engine/transfer/transfer.h"

namespace drydock {

class ThreadBlocks {
 public:
  // All arguments outlive this.
  ThreadBlocks(Ports* ports, TransferEvents* events, TransferListener* listener)
      : ports_(*ports), events_(*events), listener_(*listener) {}

  // The member's kernel starts.
  void Start(Transfer* t, uint32_t member, Time now);
  // Schedules the event of the runner's next slice if the times of all that it waits for are known.
  // Call it whenever one of these times becomes known.
  void TrySchedule(Transfer* t, uint32_t runner);
  // Handles the event of a slice.
  void RunSlice(Transfer* t, uint32_t runner, Time now);

  int64_t slices() const { return slices_; }
  // Returns the number of NCCL slices that merged slices represent.
  int64_t merged() const { return merged_; }

 private:
  // The slice that a runner works on.
  struct Slice {
    uint32_t runner = 0;
    std::span<const uint32_t> receives, sends;  // connections
    int64_t bytes = 0, wire = 0;
    int64_t merged = 1;  // Step::merged
    Time filled;         // its message may leave; if merged, so that its last byte is not early
  };

  void StartKernel(Transfer* t, uint32_t member, uint32_t launch, Time now);
  void StartRunner(Transfer* t, uint32_t runner, Time now);
  // Returns when the data of all steps that are joined to the one at `at` is there; nothing if some
  // of it is not on its way.
  std::optional<Time> ArrivalOfAll(Transfer* t, uint32_t runner) const;
  Time AllButOne(const LocalPlan& plan, const Slice& slice,
                 std::span<const uint32_t> connections) const;
  Time Receive(Transfer* t, const Slice& slice, Time from);
  Time Send(Transfer* t, const Slice& slice, Time from);
  void FinishSlice(Transfer* t, const Slice& slice, Time end);
  void Advance(Transfer* t, const Slice& slice, Time end);
  void EndRunner(Transfer* t, uint32_t runner, Time end);
  void EndBatch(Transfer* t, uint32_t batch, Time end);

  Ports& ports_;
  TransferEvents& events_;
  TransferListener& listener_;
  int64_t slices_ = 0, merged_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_THREAD_BLOCKS_H_
