// Moves slices between thread blocks and the network, as NCCL's proxy thread does.
//
// At the sender, the proxy posts a slice to the NIC once the thread block has filled it and the
// receiver has sent a clear-to-send for its slot. The slot is free again when the network
// acknowledges the message. At the receiver, a slice that arrives crosses the NIC and PCIe, and a
// slot that becomes free is a clear-to-send to the sender. In-network reductions go piece by piece:
// a member posts what it contributes to a piece, or that it contributes nothing and has room for
// the sum.
//
// Not thread-safe. Only messages connect the proxy with other hosts.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_PROXY_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_PROXY_H_

#include <cstdint>

#include "exec-engine/host/ports.h"
#include "exec-engine/transfer/thread_blocks.h"
#include "exec-engine/transfer/transfer.h"

namespace drydock {

class Proxy {
 public:
  // All arguments outlive this.
  Proxy(HostId host, Ports* ports, TransferEvents* events, ThreadBlocks* blocks,
        TransferListener* listener)
      : host_(host), ports_(*ports), events_(*events), blocks_(*blocks), listener_(*listener) {}

  // The following handle the events of TransferEvent::Kind with these names.
  void OnFilled(Transfer* t, uint32_t connection, Time now);
  void Launch(Transfer* t, uint32_t connection, Time now);
  void GiveCredit(Transfer* t, uint32_t connection, Time now);
  void EndLoop(Transfer* t, uint32_t connection, Time now);

  // A message of the call arrived, or one that this end sent was acknowledged.
  void OnDelivered(Transfer* t, uint32_t connection, const Message& message, Time now);
  void OnSent(Transfer* t, uint32_t connection, Time now);

 private:
  void Post(Transfer* t, uint32_t connection, Time now);
  void PostPieces(Transfer* t, uint32_t connection, Time now);
  void PostSlice(Transfer* t, uint32_t connection, uint32_t slice, Time now);
  // Returns true if both ends of the connection are at one NIC. Its slices do not leave the NIC.
  bool LoopsInNic(const LocalConnection& c) const {
    return c.remote_host == host_ && c.remote_nic == c.local_nic && c.folded == 0;
  }
  void Arrive(Transfer* t, uint32_t connection, int64_t wire, Time known, Time now);
  void TakeCredit(Transfer* t, uint32_t connection, Time known, Time now);
  void SendMessage(Transfer* t, uint32_t connection, int64_t bytes, bool credit, Time known);

  const HostId host_;
  Ports& ports_;
  TransferEvents& events_;
  ThreadBlocks& blocks_;
  TransferListener& listener_;
  MessageId next_message_ = 1;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_PROXY_H_
