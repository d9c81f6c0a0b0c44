#ifndef DRYDOCK_NS3_BACKEND_MODEL_WIRE_PORT_TIMES_H_
#define DRYDOCK_NS3_BACKEND_MODEL_WIRE_PORT_TIMES_H_

#include "ns3-backend/model/wire/frame.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/**
 * \brief A time for each of a fixed number of slots, with constant-time access to the earliest.
 *
 * Of equal times the lowest slot is first. This is a tournament tree: each inner node holds the
 * winner of the two nodes below it. Setting a time replays one match a level, without a branch to
 * mispredict.
 */
class PortTimes
{
  public:
    /// Sets all slots to NEVER.
    void Configure(size_t slots)
    {
        m_leaves = std::bit_ceil(slots);
        m_players.resize(2 * m_leaves);
        for (uint32_t slot = 0; slot < m_leaves; ++slot)
        {
            Set(slot, NEVER);
        }
    }

    /// Returns the earliest time in ps, or NEVER.
    int64_t GetTime() const
    {
        return m_players[1].time;
    }

    uint32_t GetSlot() const
    {
        return m_players[1].slot;
    }

    void Set(uint32_t slot, int64_t time)
    {
        Player winner{time, slot};
        size_t node = m_leaves + slot;
        for (; node > 1; node /= 2)
        {
            m_players[node] = winner;
            const Player other = m_players[node ^ 1];
            // Of equal times the left node wins: `other` if this node is a right node.
            const bool loses =
                static_cast<uint64_t>(other.time) < static_cast<uint64_t>(winner.time) + (node & 1);
            winner.time = loses ? other.time : winner.time;
            winner.slot = loses ? other.slot : winner.slot;
        }
        m_players[1] = winner;
    }

  private:
    struct Player
    {
        int64_t time = NEVER; //!< ps
        uint32_t slot = 0;
    };

    size_t m_leaves = 1;
    std::vector<Player> m_players = std::vector<Player>(2); //!< the root is 1, the leaves are last
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_WIRE_PORT_TIMES_H_
