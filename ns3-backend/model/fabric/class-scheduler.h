#ifndef DRYDOCK_NS3_BACKEND_MODEL_FABRIC_CLASS_SCHEDULER_H_
#define DRYDOCK_NS3_BACKEND_MODEL_FABRIC_CLASS_SCHEDULER_H_

#include "ns3-backend/model/wire/pause-table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/// The weight of each traffic class; 0: strict.
using ClassWeights = std::array<uint32_t, CLASSES>;

/**
 * \brief Chooses the traffic class that sends next at a port: enhanced transmission selection (IEEE
 * 802.1Qaz).
 *
 * Strict classes go first, the highest class before all others. Weighted classes share the
 * remaining bandwidth in proportion to their weights, by deficit round robin (Shreedhar and
 * Varghese, SIGCOMM 1995): at its turn a class gets its quantum and sends until the quantum is used
 * up. Its last frame may exceed the quantum; the excess counts in its next turn. So the scheduler
 * needs no frame length in advance. If all classes are strict, the choice is one comparison.
 */
class ClassScheduler
{
  public:
    /// The quantum of the class with the smallest weight is one \p largestFrame, bytes.
    void Configure(const ClassWeights& weights, uint16_t ports, int64_t largestFrame)
    {
        uint32_t minWeight = UINT32_MAX;
        for (uint8_t priority = 0; priority < CLASSES; ++priority)
        {
            if (weights[priority] > 0)
            {
                m_weighted |= ClassBit(priority);
                minWeight = std::min(minWeight, weights[priority]);
            }
        }
        if (m_weighted == 0)
        {
            return;
        }
        for (uint8_t priority = 0; priority < CLASSES; ++priority)
        {
            m_quantum[priority] = int64_t{weights[priority]} * largestFrame / minWeight;
        }
        m_rounds.resize(ports);
    }

    bool HasWeights() const
    {
        return m_weighted != 0;
    }

    /// Returns one of the classes that are \p ready at \p port.
    /// REQUIRES: \p ready is not 0.
    uint8_t Pick(uint16_t port, uint8_t ready)
    {
        const uint32_t strict = ready & ~uint32_t{m_weighted};
        return strict != 0 ? static_cast<uint8_t>(std::bit_width(strict) - 1)
                           : PickWeighted(port, ready);
    }

    /// Accounts for \p bytes of the class that leave by \p port.
    void Charge(uint16_t port, uint8_t priority, int64_t bytes)
    {
        if (m_weighted & ClassBit(priority))
        {
            m_rounds[port].credit[priority] -= bytes;
        }
    }

  private:
    struct Round
    {
        uint8_t turn = 0;                      //!< the class whose turn it is
        std::array<int64_t, CLASSES> credit{}; //!< bytes
    };

    uint8_t PickWeighted(uint16_t port, uint8_t ready)
    {
        Round& round = m_rounds[port];
        while (!(ready & ClassBit(round.turn)) || round.credit[round.turn] <= 0)
        {
            if (!(ready & ClassBit(round.turn)))
            {
                // A class does not save credit while it has nothing to send.
                round.credit[round.turn] = std::min<int64_t>(round.credit[round.turn], 0);
            }
            round.turn = (round.turn + 1) % CLASSES;
            if (ready & ClassBit(round.turn))
            {
                round.credit[round.turn] += m_quantum[round.turn];
            }
        }
        return round.turn;
    }

    uint8_t m_weighted = 0; //!< classes with a weight, one bit each
    std::array<int64_t, CLASSES> m_quantum{};
    std::vector<Round> m_rounds; //!< by port; empty where all are strict
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_FABRIC_CLASS_SCHEDULER_H_
