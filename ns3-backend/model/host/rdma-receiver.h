#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_RECEIVER_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_RECEIVER_H_

#include "core/containers/index_table.h"
#include "ns3-backend/model/host/rdma-transport.h"
#include "ns3-backend/model/host/receive-queue.h"
#include "ns3-backend/model/wire/fabric-map.h"
#include "ns3-backend/model/wire/frame.h"

#include <vector>

namespace ns3::rdma
{

/// Of a message that is about to be sent, its receiver is told what it is.
struct Announcement
{
    uint64_t queue; //!< key of the receive queue, or of the connection
    drydock::Message message;
    uint32_t parts = 0; //!< a whole message that comes in so many parts, which are announced too
};

/**
 * \brief What a host does with packets of data: puts messages together, and answers.
 *
 * It acknowledges packets that ask for it, asks for those that are missing, and tells the sender of
 * marked ones. Times in ps. Not thread-safe.
 */
class RdmaReceiver
{
  public:
    /// Both outlive this.
    void Configure(const RdmaTransport::Parameters* transport, const FabricMap* map)
    {
        m_transport = transport;
        m_map = map;
    }

    /// Names a receive queue: the host its packets come from, and the number of the queue pair
    /// there.
    static uint64_t QueueKey(uint32_t host, uint32_t queuePair)
    {
        return uint64_t{host} << 32 | queuePair;
    }

    void Announce(const Announcement& announcement);

    /// Takes a packet of data at \p now. \p replies and \p done are emptied first, then get what
    /// is to be sent back, and the messages that are now complete, each in order.
    void Take(const Frame& frame,
              int64_t now,
              std::vector<Frame>& replies,
              std::vector<drydock::Message>& done);

    /// Nothing is announced that has not come.
    bool Idle() const;

  private:
    /// Acknowledges what came before, if a packet with \p marked must not be acknowledged with it.
    void EchoChange(const Frame& frame,
                    bool marked,
                    ReceiveQueue& queue,
                    std::vector<Frame>& replies) const;
    /// Only the header has come: its payload is asked for.
    void TakeHeader(const Frame& frame,
                    int64_t now,
                    ReceiveQueue& queue,
                    std::vector<Frame>& replies) const;
    void AskForMissing(const Frame& frame,
                       int64_t now,
                       uint32_t reach,
                       ReceiveQueue& queue,
                       std::vector<Frame>& replies) const;
    /// Where packets may overtake each other: asks for those that were overtaken too long ago.
    void AskForOverdue(const Frame& frame,
                       int64_t now,
                       ReceiveQueue& queue,
                       std::vector<Frame>& replies) const;
    Frame Reply(const Frame& frame, uint8_t flags, uint32_t psn, uint16_t missing) const;
    /// Reply of everything that has come in order.
    Frame Acknowledgement(const Frame& frame, const ReceiveQueue& queue) const;

    const RdmaTransport::Parameters* m_transport = nullptr;
    const FabricMap* m_map = nullptr;
    std::vector<ReceiveQueue> m_queues;
    drydock::IndexTable<uint64_t> m_index; //!< from QueueKey to m_queues
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_RECEIVER_H_
