#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_RECEIVE_QUEUE_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_RECEIVE_QUEUE_H_

#include "exec-engine/network/network.h"
#include "ns3-backend/model/wire/fifo.h"

#include <algorithm>
#include <cstdint>

namespace ns3::rdma
{

/**
 * \brief The receiving half of a queue pair: the messages that were announced, in order, and which
 * packets of them are there.
 *
 * Packets that come before one that is missing are kept or not, as the retransmission wants it.
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
        IN_ORDER,  //!< taken, and perhaps some that were kept before
        DUPLICATE, //!< had been taken
        EARLY,     //!< one before it is missing
    };

    /// Takes a packet. Calls \p done with each message that is now complete. With \p keep early
    /// packets are kept.
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

    /// Every packet before this one is there.
    uint32_t GetNext() const
    {
        return m_next;
    }

    /// Distance from GetNext() behind the last packet that was kept; 0 if none is.
    uint32_t GetReach() const
    {
        return m_early.Empty() ? 0 : static_cast<uint32_t>(std::max(0, Distance(m_reach)));
    }

    /// Whether packet GetNext() + \p ahead is known to be missing and has been asked for.
    bool WasAsked(uint32_t ahead) const
    {
        return ahead < m_early.Size() && m_early[ahead] == ASKED;
    }

    /// Whether packet GetNext() + \p ahead was kept.
    bool IsHere(uint32_t ahead) const
    {
        return ahead < m_early.Size() && m_early[ahead] == HERE;
    }

    /// Packet GetNext() + \p ahead, which is not here, is asked for at \p now; with \p keep this
    /// is remembered until it comes, however many are.
    void NoteAsked(uint32_t ahead, int64_t now, bool keep)
    {
        if (lastNack < 0 || static_cast<int32_t>(ahead) > Distance(m_asked))
        {
            m_asked = m_next + ahead;
        }
        lastNack = now;
        if (keep)
        {
            Extend(ahead);
            m_early[ahead] = ASKED;
        }
    }

    /**
     * Packets may overtake each other, so one that is missing is not lost at once. Called with each
     * early packet; calls \p lost with the distance from GetNext() of every missing packet that was
     * overtaken at least \p patience ago and not reported since.
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

    int64_t lastNack = -1; //!< when a missing packet was last asked for; -1: it has come since
    bool echo = false;     //!< whether the packets since the last acknowledgement were marked
    int64_t lastCnp = -1;  //!< when the sender was last told of marks; -1: never

  private:
    void StartWatch(int64_t now)
    {
        m_watchSince = now;
        m_watchEnd = m_next + GetReach();
    }

    enum Early : uint8_t
    {
        ABSENT,
        ASKED, //!< and asked for
        HERE,
    };

    /// How far behind the next packet \p psn is.
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
        if (lastNack >= 0 && Distance(m_asked) < 0)
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
    int64_t m_received = 0; //!< of the first
    uint32_t m_next = 0;
    int64_t m_watchSince = -1; //!< when what is missing before m_watchEnd had been overtaken
    uint32_t m_watchEnd = 0;
    uint32_t m_asked = 0;  //!< the last that was asked for, where lastNack is not -1
    uint32_t m_reach = 0;  //!< behind the last packet that was kept, where some are
    Fifo<uint8_t> m_early; //!< what is known of the packet m_next + i, Early
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_RECEIVE_QUEUE_H_
