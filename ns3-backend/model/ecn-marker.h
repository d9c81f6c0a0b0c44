#ifndef DRYDOCK_NS3_BACKEND_ECN_MARKER_H
#define DRYDOCK_NS3_BACKEND_ECN_MARKER_H

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
        m_draws = seed;
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
        return Draw() < m_most * ramp;
    }

  private:
    /// Uniform in [0, 1): SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    double Draw()
    {
        uint64_t x = m_draws += 0x9e3779b97f4a7c15U;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
        x ^= x >> 31;
        return static_cast<double>(x >> 11) * 0x1.0p-53;
    }

    int64_t m_min = 0;
    int64_t m_max = 0;
    double m_most = 0;
    uint64_t m_draws = 0;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_ECN_MARKER_H
