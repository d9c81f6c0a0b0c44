#ifndef DRYDOCK_NS3_BACKEND_MODEL_FABRIC_ECN_MARKER_H_
#define DRYDOCK_NS3_BACKEND_MODEL_FABRIC_ECN_MARKER_H_

#include "ns3-backend/model/wire/draws.h"

#include <cstdint>

namespace ns3::rdma
{

/**
 * \brief Random early marking of one port (RED's ramp on the momentary queue, as DCQCN's switches
 * do: Zhu et al., SIGCOMM 2015, 3.1).
 *
 * Marks no frame up to `min` bytes, every frame above `max`, and in between with a probability that
 * grows from 0 to `maxProbability`. min == max is DCTCP's step. Each port has its own sequence of
 * draws.
 */
class EcnMarker
{
  public:
    void Configure(int64_t min, int64_t max, double maxProbability, uint64_t seed)
    {
        m_min = min;
        m_max = max;
        m_maxProbability = maxProbability;
        m_draws = Draws(seed);
    }

    /// Whether to mark a frame that joins, or leaves behind, a queue of \p queued bytes.
    bool Marks(int64_t queued)
    {
        if (queued <= m_min)
        {
            return false;
        }
        if (queued > m_max)
        {
            return true;
        }
        const double ramp =
            static_cast<double>(queued - m_min) / static_cast<double>(m_max - m_min);
        return m_draws.Next() < m_maxProbability * ramp;
    }

  private:
    int64_t m_min = 0;
    int64_t m_max = 0;
    double m_maxProbability = 0;
    Draws m_draws;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_FABRIC_ECN_MARKER_H_
