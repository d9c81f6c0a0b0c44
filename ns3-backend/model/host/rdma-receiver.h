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

/// Tells a receiver about a message before its first packet.
struct Announcement
{
    uint64_t queue; //!< key of the receive queue, or of the connection
    drydock::Message message;
    uint32_t parts =
        0; //!< not 0: a whole message that arrives in this many parts, which are announced as well
};

/**
 * \brief The receiving side of a host: assembles messages from packets of data, and replies.
 *
 * It acknowledges packets that request it, requests missing packets, and notifies senders of marked
 * packets. Times in ps. Not thread-safe.
 */
class RdmaReceiver
{
  public:
    /// Both arguments outlive this.
    void Configure(const RdmaTransport::Parameters* transport, const FabricMap* map)
    {
        m_transport = transport;
        m_map = map;
    }

    /// Returns the key of a receive queue: the sending host and the number of the queue pair there.
    static uint64_t QueueKey(uint32_t host, uint32_t queuePair)
    {
        return uint64_t{host} << 32 | queuePair;
    }

    void Announce(const Announcement& announcement);

    /// Takes a packet of data at \p now. Clears \p replies and \p done, then adds the frames to
    /// send back and the messages that are now complete, both in order.
    void Take(const Frame& frame,
              int64_t now,
              std::vector<Frame>& replies,
              std::vector<drydock::Message>& done);

    /// Whether every announced message is complete.
    bool Idle() const;

  private:
    /// Acknowledges the packets before \p frame if their marks differ from \p marked.
    void EchoChange(const Frame& frame,
                    bool marked,
                    ReceiveQueue& queue,
                    std::vector<Frame>& replies) const;
    /// Takes a trimmed frame: requests its payload.
    void TakeHeader(const Frame& frame,
                    int64_t now,
                    ReceiveQueue& queue,
                    std::vector<Frame>& replies) const;
    void RequestMissing(const Frame& frame,
                        int64_t now,
                        uint32_t reach,
                        ReceiveQueue& queue,
                        std::vector<Frame>& replies) const;
    /// Requests packets that were overtaken too long ago, where packets may overtake each other.
    void RequestOverdue(const Frame& frame,
                        int64_t now,
                        ReceiveQueue& queue,
                        std::vector<Frame>& replies) const;
    Frame Reply(const Frame& frame, uint8_t flags, uint32_t psn, uint16_t missing) const;
    /// Returns a reply that acknowledges every packet that has arrived in order.
    Frame Acknowledgement(const Frame& frame, const ReceiveQueue& queue) const;

    /// One multiplication spreads the keys. Every packet looks up its queue, so the mixer of
    /// core/containers/hash.h would cost more than the collisions that it avoids.
    struct QueueKeyHash
    {
        size_t operator()(uint64_t key) const
        {
            return key * drydock::kSplitMixIncrement >> 32;
        }
    };

    const RdmaTransport::Parameters* m_transport = nullptr;
    const FabricMap* m_map = nullptr;
    std::vector<ReceiveQueue> m_queues;
    drydock::IndexTable<uint64_t, QueueKeyHash> m_index; //!< from QueueKey to m_queues
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_RECEIVER_H_
