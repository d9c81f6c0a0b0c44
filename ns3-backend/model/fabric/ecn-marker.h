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
 * Nothing below `min` bytes, with a probability that grows to `most` at `max`, always above. min ==
 * max is DCTCP's step. The draws are numbered per port, so they do not depend on anything else.
 */
class EcnMarker
{
  public:
    void Configure(int64_t min, int64_t max, double most, uint64_t seed)
    {
        m_min = min;
        m_max = max;
        m_most = most;
        m_draws = Draws(seed);
    }

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
        return m_draws.Next() < m_most * ramp;
    }

  private:
    int64_t m_min = 0;
    int64_t m_max = 0;
    double m_most = 0;
    Draws m_draws;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_FABRIC_ECN_MARKER_H_
