#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_ROUND_TRIP_METER_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_ROUND_TRIP_METER_H_

#include "ns3-backend/model/wire/fifo.h"

#include <cstdint>

namespace ns3::rdma
{

/// Measures the round trips of packets that request an acknowledgement. Times in ps.
class RoundTripMeter
{
  public:
    /// The round trip of packet \p psn begins at \p now.
    /// REQUIRES: \p psn grows from call to call, unless Clear is called in between.
    void Begin(uint64_t psn, int64_t now)
    {
        m_begun.Push({psn, now});
    }

    /**
     * Every packet before \p acked is acknowledged, by an acknowledgement that says \p wrapped
     * (\p acked modulo 2^32, or less if it was overtaken). Returns the round trip of the last
     * packet before it, or -1 if that packet was not measured.
     */
    int64_t End(uint64_t acked, uint32_t wrapped, int64_t now)
    {
        int64_t roundTrip = -1;
        while (!m_begun.Empty() && m_begun.Front().psn < acked)
        {
            const Begun& first = m_begun.Front();
            roundTrip = static_cast<uint32_t>(first.psn + 1) == wrapped ? now - first.time : -1;
            m_begun.Pop();
        }
        return roundTrip;
    }

    /// Forgets all packets: when a packet is sent again, an acknowledgement could answer its first
    /// transmission or its second (Karn's algorithm).
    void Clear()
    {
        while (!m_begun.Empty())
        {
            m_begun.Pop();
        }
    }

  private:
    struct Begun
    {
        uint64_t psn;
        int64_t time;
    };

    Fifo<Begun> m_begun;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_ROUND_TRIP_METER_H_
