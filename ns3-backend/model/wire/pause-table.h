#ifndef DRYDOCK_NS3_BACKEND_MODEL_WIRE_PAUSE_TABLE_H_
#define DRYDOCK_NS3_BACKEND_MODEL_WIRE_PAUSE_TABLE_H_

#include "ns3-backend/model/wire/frame.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/// Traffic classes of Ethernet (IEEE 802.1Q).
inline constexpr uint32_t CLASSES = 8;

inline constexpr uint8_t
ClassBit(uint8_t priority)
{
    return static_cast<uint8_t>(1U << priority);
}

/**
 * \brief Which classes the peer of each port has paused, and until when (IEEE 802.1Qbb).
 *
 * A PAUSE counts in quanta of 512 bit times of the link that it arrived by. The table is empty
 * until the first PAUSE arrives. Times in ps.
 */
class PauseTable
{
  public:
    static constexpr int64_t QUANTUM_BYTES = 64;  //!< 512 bits
    static constexpr uint32_t MAX_QUANTA = 65535; //!< of one PAUSE

    /// Obeys \p frame, which arrived by \p port. Returns when the pause ends: \p now if the frame
    /// ends it.
    template <typename Egress>
    int64_t Set(uint16_t port, const Frame& frame, int64_t now, Egress& egress)
    {
        if (port >= m_until.size())
        {
            m_until.resize(port + 1U);
            m_since.resize(port + 1U);
            m_paused.resize(port + 1U);
        }
        if (frame.psn == 0 || !(egress.paused & ClassBit(frame.priority)))
        {
            m_since[port][frame.priority] = now;
        }
        const uint8_t before = egress.paused;
        const int64_t quanta = frame.psn;
        const int64_t until = now + egress.Occupancy(quanta * QUANTUM_BYTES);
        m_until[port][frame.priority] = until;
        if (quanta > 0)
        {
            egress.paused |= ClassBit(frame.priority);
        }
        else
        {
            egress.paused &= static_cast<uint8_t>(~ClassBit(frame.priority));
        }
        Account(port, before, egress.paused, now);
        return until;
    }

    /// Returns how long the class has been paused at \p now.
    /// REQUIRES: Set was called for the class.
    int64_t HeldFor(uint16_t port, uint8_t priority, int64_t now) const
    {
        return now - m_since[port][priority];
    }

    /// Ends the pauses that are over at \p now. Returns whether a class of \p port resumes.
    template <typename Egress>
    bool Expire(uint16_t port, int64_t now, Egress& egress)
    {
        const uint8_t before = egress.paused;
        for (uint8_t c = 0; c < CLASSES; ++c)
        {
            if ((egress.paused & ClassBit(c)) && m_until[port][c] <= now)
            {
                egress.paused &= static_cast<uint8_t>(~ClassBit(c));
            }
        }
        Account(port, before, egress.paused, now);
        return egress.paused != before;
    }

    /// Returns the total time up to \p now in which at least one class of \p port was paused.
    int64_t GetPausedTime(uint16_t port, int64_t now) const
    {
        if (port >= m_paused.size())
        {
            return 0;
        }
        const Total& total = m_paused[port];
        return total.time + (total.since < 0 ? 0 : now - total.since);
    }

  private:
    struct Total
    {
        int64_t time = 0;
        int64_t since = -1; //!< -1: not paused
    };

    void Account(uint16_t port, uint8_t before, uint8_t after, int64_t now)
    {
        Total& total = m_paused[port];
        if (before == 0 && after != 0)
        {
            total.since = now;
        }
        else if (before != 0 && after == 0)
        {
            total.time += now - total.since;
            total.since = -1;
        }
    }

    std::vector<Total> m_paused;                       //!< by port
    std::vector<std::array<int64_t, CLASSES>> m_until; //!< by port
    std::vector<std::array<int64_t, CLASSES>> m_since; //!< by port: when it was last not paused
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_WIRE_PAUSE_TABLE_H_
