// Moves the data of communication calls through one host, slice by slice.
//
// A call in progress is a Transfer. ThreadBlocks walks the programs of its members on this host,
// Proxy exchanges slices with other hosts. They share one queue of events. The start of a slice is
// known as soon as the times of all that it waits for are known, even if these times are in the
// future. So there is one event for each slice of a runner, and ports are taken in the order of
// begins. Events of equal time are ordered by call, kind and runner or connection, so the order in
// which they are inserted does not matter.
//
// Times are absolute. Not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_TRANSFER_ENGINE_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_TRANSFER_ENGINE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "exec-engine/host/ports.h"
#include "exec-engine/transfer/proxy.h"
#include "exec-engine/transfer/thread_blocks.h"
#include "exec-engine/transfer/transfer.h"

namespace drydock {

class TransferEngine {
 public:
  // Both arguments outlive this.
  TransferEngine(HostId host, const PortMap& map, TransferListener* listener)
      : ports_(map),
        blocks_(&ports_, &events_, listener),
        proxy_(host, &ports_, &events_, &blocks_, listener) {}
  TransferEngine(const TransferEngine&) = delete;
  TransferEngine& operator=(const TransferEngine&) = delete;

  // Returns a transfer that lasts until it is given back. `plan` outlives the transfer.
  Transfer* Begin(const LocalPlan* plan, CallKey key);
  void GiveBack(Transfer* transfer);
  // Gives a transfer back of which no event has run yet.
  void Forget(Transfer* transfer);
  // The member's kernel starts.
  void Start(Transfer* transfer, uint32_t member, Time now) {
    blocks_.Start(transfer, member, now);
  }
  // Returns what a message's place (network.h) names if it belongs to this call, else no transfer.
  struct Place {
    Transfer* transfer = nullptr;
    uint32_t connection = 0;
  };
  Place Find(uint32_t place, CallKey key) const;
  // A message of the transfer's call arrived, or one that it sent was acknowledged.
  void OnDelivered(Transfer* transfer, uint32_t connection, const Message& message, Time now) {
    proxy_.OnDelivered(transfer, connection, message, now);
  }
  void OnSent(Transfer* transfer, uint32_t connection, Time now) {
    proxy_.OnSent(transfer, connection, now);
  }

  bool idle() const { return events_.empty(); }
  Time next_time() const { return events_.top().time; }
  void RunNext();
  // Forgets every event and frees every port, for another simulation.
  void Reset();
  int64_t slices() const { return blocks_.slices(); }
  int64_t merged() const { return blocks_.merged(); }
  Ports& ports() { return ports_; }  // for traffic that shares them with calls
  // Appends ports and events. The users of transfers append these.
  void AppendState(RelativeState* out) const;

 private:
  Ports ports_;
  TransferEvents events_;
  ThreadBlocks blocks_;
  Proxy proxy_;
  std::vector<std::unique_ptr<Transfer>> pool_;
  std::vector<Transfer*> free_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_TRANSFER_ENGINE_H_
