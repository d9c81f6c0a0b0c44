#ifndef DRYDOCK_NS3_BACKEND_QUEUE_PAIR_H
#define DRYDOCK_NS3_BACKEND_QUEUE_PAIR_H

#include "exec-engine/network.h"
#include "ns3-backend/model/fifo.h"

#include <algorithm>
#include <cstdint>

namespace ns3::rdma
{

/// What names a queue pair at its sending host.
struct QueuePairName
{
    drydock::HostId destination;
    int16_t sourceNic;
    int16_t destinationNic;
    uint32_t flow;

    bool operator==(const QueuePairName&) const = default;
};

/**
 * \brief The sending half of a queue pair: messages in order, cut into packets, not yet all
 * acknowledged.
 *
 * A message counts as in flight, byte by byte, from when a packet of it is cut until the
 * acknowledgement of that packet is back. Packets are full (one MTU) except the last of a message.
 */
class QueuePair
{
  public:
    /// A message that is not wholly acknowledged.
    struct Outgoing
    {
        drydock::Message message;
        int64_t ready;     //!< when its bytes are at the NIC, ps
        uint64_t firstPsn; //!< sequence number of its first packet, not wrapped
        uint64_t packets;
    };

    QueuePair(uint32_t fromLink,
              uint32_t toLink,
              uint32_t pathHash,
              uint16_t hostPort,
              int64_t mtu,
              int64_t window)
        : from(fromLink),
          to(toLink),
          path(pathHash),
          port(hostPort),
          m_mtu(mtu),
          m_window(window)
    {
    }

    /// \p ready does not decrease from message to message.
    void Add(const drydock::Message& message, int64_t ready)
    {
        const auto packets = static_cast<uint64_t>((message.size.count() + m_mtu - 1) / m_mtu);
        m_messages.Push(Outgoing{message, ready, m_endPsn, packets});
        m_endPsn += packets;
    }

    /// Releases messages up to time \p now. When the next one is ready, or -1 if there is none.
    int64_t Release(int64_t now)
    {
        while (m_released < m_messages.Size() && m_messages[m_released].ready <= now)
        {
            ++m_released;
        }
        return m_released < m_messages.Size() ? m_messages[m_released].ready : -1;
    }

    /// Whether a packet is ready and the window has room for it. One packet always has.
    bool CanSend() const
    {
        return m_sending < m_released && WindowTakes(NextPayload());
    }

    /// A packet to send; CanSend.
    struct Packet
    {
        uint32_t psn;
        uint16_t payload;
        bool endsMessage;
        bool fillsWindow; //!< no further one can be sent before an acknowledgement
    };

    Packet Cut()
    {
        const int64_t payload = NextPayload();
        Packet packet{};
        packet.psn = static_cast<uint32_t>(m_nextPsn++);
        packet.payload = static_cast<uint16_t>(payload);
        m_cut += payload;
        m_sentBytes += payload;
        packet.endsMessage = m_cut == m_messages[m_sending].message.size.count();
        if (packet.endsMessage)
        {
            m_cut = 0;
            ++m_sending;
        }
        packet.fillsWindow = !WindowTakes(m_mtu);
        return packet;
    }

    /**
     * The receiver has every packet before \p psn. Calls \p done with each message that is now
     * wholly acknowledged, in order.
     */
    template <typename Done>
    void Acknowledge(uint32_t psn, Done done)
    {
        m_ackedPsn += psn - static_cast<uint32_t>(m_ackedPsn);
        while (!m_messages.Empty() &&
               m_messages.Front().firstPsn + m_messages.Front().packets <= m_ackedPsn)
        {
            m_doneBytes += m_messages.Front().message.size.count();
            done(m_messages.Front().message);
            m_messages.Pop();
            --m_sending;
            --m_released;
        }
        m_ackedBytes = m_doneBytes;
        if (!m_messages.Empty() && m_messages.Front().firstPsn < m_ackedPsn)
        {
            m_ackedBytes += static_cast<int64_t>(m_ackedPsn - m_messages.Front().firstPsn) * m_mtu;
        }
    }

    /// Nothing to send and nothing unacknowledged.
    bool Idle() const
    {
        return m_messages.Empty();
    }

    const uint32_t from;  //!< link from the NIC
    const uint32_t to;    //!< link to the peer's NIC
    const uint32_t path;  //!< hash for the choice among equal ways
    const uint16_t port;  //!< of the host
    bool active = false;  //!< in the port's round; only while CanSend
    bool armed = false;   //!< an event waits for the next message to be ready
    int32_t sinceAck = 0; //!< packets since the last that asked for an acknowledgement

  private:
    int64_t NextPayload() const
    {
        return std::min(m_mtu, m_messages[m_sending].message.size.count() - m_cut);
    }

    bool WindowTakes(int64_t payload) const
    {
        const int64_t inFlight = m_sentBytes - m_ackedBytes;
        return inFlight == 0 || inFlight + payload <= m_window;
    }

    int64_t m_mtu;
    int64_t m_window; //!< bytes that may be in flight
    Fifo<Outgoing> m_messages;
    size_t m_released = 0; //!< how many of m_messages are ready
    size_t m_sending = 0;  //!< the one of m_messages that is being cut
    int64_t m_cut = 0;     //!< how many bytes of it are
    uint64_t m_nextPsn = 0;
    uint64_t m_endPsn = 0; //!< of the messages added so far
    uint64_t m_ackedPsn = 0;
    int64_t m_sentBytes = 0;
    int64_t m_ackedBytes = 0;
    int64_t m_doneBytes = 0; //!< of messages that are wholly acknowledged
};

/// The receiving half: what was announced, in order, and how much of the first is there.
struct ReceiveQueue
{
    Fifo<drydock::Message> messages;
    int64_t received = 0;
    uint32_t nextPsn = 0;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_QUEUE_PAIR_H
