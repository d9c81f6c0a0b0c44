#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_OUTGOING_MESSAGES_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_OUTGOING_MESSAGES_H_

#include "core/network/network.h"
#include "ns3-backend/model/wire/fifo.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ns3::rdma
{

/**
 * \brief The messages of a queue pair that are not wholly acknowledged, in order, and how far they
 * have been cut into packets.
 *
 * Packets are full (one MTU) except the last packet of a message. Packet sequence numbers here do
 * not wrap. A message is released when its bytes are at the NIC; only released messages are cut.
 */
class OutgoingMessages
{
  public:
    explicit OutgoingMessages(int64_t mtu)
        : m_mtu(mtu)
    {
    }

    /// Adds a message whose bytes are at the NIC at time \p ready, ps.
    /// REQUIRES: \p ready does not decrease from message to message.
    void Add(const drydock::Message& message, int64_t ready)
    {
        const auto packets = static_cast<uint64_t>((message.size.count() + m_mtu - 1) / m_mtu);
        m_messages.Push(Outgoing{message, ready, m_endPsn, packets});
        m_endPsn += packets;
    }

    /// Releases messages up to time \p now. Returns when the next one is ready, or -1 if there is
    /// none.
    int64_t Release(int64_t now)
    {
        while (m_released < m_messages.Size() && m_messages[m_released].ready <= now)
        {
            ++m_released;
        }
        return m_released < m_messages.Size() ? m_messages[m_released].ready : -1;
    }

    /// Whether a packet can be cut.
    bool HasPacket() const
    {
        return m_cutting < m_released;
    }

    /// Returns the bytes of the packet that would be cut next.
    /// REQUIRES: HasPacket().
    int64_t NextPayload() const
    {
        return std::min(m_mtu, m_messages[m_cutting].message.size.count() - m_cutBytes);
    }

    /// Cuts a packet of NextPayload() bytes. Returns whether the packet ends its message.
    bool Cut(int64_t payload)
    {
        m_cutBytes += payload;
        const bool ends = m_cutBytes == m_messages[m_cutting].message.size.count();
        if (ends)
        {
            m_cutBytes = 0;
            ++m_cutting;
        }
        return ends;
    }

    /// Removes the messages that end before packet \p psn and calls \p done with each, in order.
    template <typename Done>
    void Finish(uint64_t psn, Done done)
    {
        while (!m_messages.Empty() && EndOf(m_messages.Front()) <= psn)
        {
            m_doneBytes += m_messages.Front().message.size.count();
            done(m_messages.Front().message);
            m_messages.Pop();
            m_cutting -= m_cutting > 0 ? 1 : 0;
            --m_released;
        }
    }

    /// Returns the bytes before packet \p psn, of all messages that were ever added.
    /// REQUIRES: Finish(p) was called for no p > \p psn.
    int64_t BytesBefore(uint64_t psn) const
    {
        const Position at = Locate(psn);
        return at.before + at.within;
    }

    /// The next packet to be cut is \p psn. Returns BytesBefore(psn).
    int64_t Rewind(uint64_t psn)
    {
        const Position at = Locate(psn);
        m_cutting = at.message;
        m_cutBytes = at.within;
        return at.before + at.within;
    }

    /// Returns the bytes of packet \p psn, which was cut before and is not acknowledged.
    int64_t PayloadOf(uint64_t psn) const
    {
        const Position at = Locate(psn);
        return std::min(m_mtu, m_messages[at.message].message.size.count() - at.within);
    }

    bool Empty() const
    {
        return m_messages.Empty();
    }

  private:
    struct Outgoing
    {
        drydock::Message message;
        int64_t ready;     //!< when its bytes are at the NIC, ps
        uint64_t firstPsn; //!< sequence number of its first packet
        uint64_t packets;
    };

    /// Where a packet begins.
    struct Position
    {
        size_t message = 0; //!< of m_messages; their number if the packet is after all of them
        int64_t before = 0; //!< bytes of all messages before that one
        int64_t within = 0; //!< bytes of that message before the packet
    };

    static uint64_t EndOf(const Outgoing& outgoing)
    {
        return outgoing.firstPsn + outgoing.packets;
    }

    Position Locate(uint64_t psn) const
    {
        Position at;
        at.before = m_doneBytes;
        while (at.message < m_messages.Size() && EndOf(m_messages[at.message]) <= psn)
        {
            at.before += m_messages[at.message].message.size.count();
            ++at.message;
        }
        if (at.message < m_messages.Size())
        {
            at.within = static_cast<int64_t>(psn - m_messages[at.message].firstPsn) * m_mtu;
        }
        return at;
    }

    int64_t m_mtu; //!< bytes
    Fifo<Outgoing> m_messages;
    size_t m_released = 0;   //!< how many of m_messages are released
    size_t m_cutting = 0;    //!< the one of m_messages that is being cut
    int64_t m_cutBytes = 0;  //!< how many bytes of it are cut
    uint64_t m_endPsn = 0;   //!< after the last packet of the messages added so far
    int64_t m_doneBytes = 0; //!< of messages that were removed
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_OUTGOING_MESSAGES_H_
