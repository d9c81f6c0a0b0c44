#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_RECEIVE_QUEUE_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_RECEIVE_QUEUE_H_

#include "core/network/network.h"
#include "ns3-backend/model/wire/fifo.h"

#include <algorithm>
#include <cstdint>

namespace ns3::rdma
{

/**
 * \brief The receiving half of a queue pair: the announced messages, in order, and which of their
 * packets have arrived.
 *
 * Packets that arrive before a missing packet are kept or discarded, as the retransmission
 * requires.
 */
class ReceiveQueue
{
  public:
    void Announce(const drydock::Message& message)
    {
        m_messages.Push(message);
    }

    enum Verdict
    {
        IN_ORDER,  //!< taken, with kept packets that follow it
        DUPLICATE, //!< was taken before
        EARLY,     //!< a packet before it is missing
    };

    /// Takes packet \p psn. Calls \p done with each message that is now complete. Keeps an early
    /// packet if \p keep is true.
    template <typename Done>
    Verdict Take(uint32_t psn, int64_t mtu, bool keep, Done done)
    {
        const auto ahead = static_cast<int32_t>(psn - m_next);
        if (ahead < 0)
        {
            return DUPLICATE;
        }
        if (ahead > 0)
        {
            return keep ? Keep(static_cast<uint32_t>(ahead)) : EARLY;
        }
        Advance(mtu, done);
        while (!m_early.Empty() && m_early.Front() == HERE)
        {
            Advance(mtu, done);
        }
        return IN_ORDER;
    }

    /// Returns the first missing packet.
    uint32_t GetNext() const
    {
        return m_next;
    }

    /// Returns the distance from GetNext() to the packet after the last kept one; 0 if none is
    /// kept.
    uint32_t GetReach() const
    {
        return m_early.Empty() ? 0 : static_cast<uint32_t>(std::max(0, Distance(m_reach)));
    }

    /// Whether packet GetNext() + \p ahead is missing and was requested.
    bool WasRequested(uint32_t ahead) const
    {
        return ahead < m_early.Size() && m_early[ahead] == REQUESTED;
    }

    /// Whether packet GetNext() + \p ahead is kept.
    bool IsHere(uint32_t ahead) const
    {
        return ahead < m_early.Size() && m_early[ahead] == HERE;
    }

    /// The missing packet GetNext() + \p ahead is requested at \p now. With \p keep this is
    /// remembered for each packet until it arrives.
    void NoteRequest(uint32_t ahead, int64_t now, bool keep)
    {
        if (lastNack < 0 || static_cast<int32_t>(ahead) > Distance(m_requested))
        {
            m_requested = m_next + ahead;
        }
        lastNack = now;
        if (keep)
        {
            Extend(ahead);
            m_early[ahead] = REQUESTED;
        }
    }

    /**
     * For packets that may overtake each other: a missing packet does not count as lost at once.
     * Called with each early packet. Calls \p lost with the distance from GetNext() of every
     * missing packet that was overtaken at least \p patience ago and was not reported since.
     */
    template <typename Lost>
    void Watch(int64_t now, int64_t patience, Lost lost)
    {
        if (m_watchSince < 0)
        {
            StartWatch(now);
        }
        if (now - m_watchSince < patience)
        {
            return;
        }
        const auto end = static_cast<int32_t>(m_watchEnd - m_next);
        for (int32_t i = 0; i < end; ++i)
        {
            if (m_early[static_cast<size_t>(i)] != HERE)
            {
                lost(static_cast<uint32_t>(i));
            }
        }
        StartWatch(now);
    }

    bool Idle() const
    {
        return m_messages.Empty();
    }

    int64_t lastNack = -1; //!< when a missing packet was last requested; -1: it has arrived since
    bool echo = false;     //!< the packets since the last acknowledgement were marked
    int64_t lastCnp = -1;  //!< when the sender was last notified of marks; -1: never

  private:
    void StartWatch(int64_t now)
    {
        m_watchSince = now;
        m_watchEnd = m_next + GetReach();
    }

    enum Early : uint8_t
    {
        ABSENT,
        REQUESTED, //!< absent and requested
        HERE,
    };

    /// Returns the distance from GetNext() to \p psn; negative if \p psn is before it.
    int32_t Distance(uint32_t psn) const
    {
        return static_cast<int32_t>(psn - m_next);
    }

    void Extend(size_t ahead)
    {
        while (m_early.Size() <= ahead)
        {
            m_early.Push(ABSENT);
        }
    }

    Verdict Keep(uint32_t ahead)
    {
        m_reach = m_next + std::max(GetReach(), ahead + 1);
        Extend(ahead);
        const Verdict verdict = m_early[ahead] == HERE ? DUPLICATE : EARLY;
        m_early[ahead] = HERE;
        return verdict;
    }

    template <typename Done>
    void Advance(int64_t mtu, Done done)
    {
        if (!m_early.Empty())
        {
            m_early.Pop();
        }
        ++m_next;
        if (m_early.Empty())
        {
            m_watchSince = -1;
        }
        if (lastNack >= 0 && Distance(m_requested) < 0)
        {
            lastNack = -1;
        }
        const int64_t size = m_messages.Front().size.count();
        m_received += std::min(mtu, size - m_received);
        if (m_received == size)
        {
            done(m_messages.Front());
            m_messages.Pop();
            m_received = 0;
        }
    }

    Fifo<drydock::Message> m_messages;
    int64_t m_received = 0; //!< bytes of the first message
    uint32_t m_next = 0;
    int64_t m_watchSince = -1; //!< when the missing packets before m_watchEnd had been overtaken
    uint32_t m_watchEnd = 0;
    uint32_t m_requested = 0; //!< the last packet that was requested, if lastNack is not -1
    uint32_t m_reach = 0;     //!< after the last kept packet, if there is one
    Fifo<uint8_t> m_early;    //!< the state (Early) of packet m_next + i
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_RECEIVE_QUEUE_H_
