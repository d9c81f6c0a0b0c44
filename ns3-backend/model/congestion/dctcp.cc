#include "ns3-backend/model/congestion/dctcp.h"

#include "ns3/double.h"

#include <algorithm>
#include <cmath>

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Dctcp);

TypeId
Dctcp::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::Dctcp")
            .SetParent<CongestionControl>()
            .SetGroupName("Drydock")
            .AddConstructor<Dctcp>()
            .AddAttribute("Gain",
                          "g: weight of a new share of marks in alpha. DCTCP paper, 4: 1/16.",
                          DoubleValue(1.0 / 16),
                          MakeDoubleAccessor(&Dctcp::m_gain),
                          MakeDoubleChecker<double>(0.0, 1.0));
    return tid;
}

std::unique_ptr<FlowController>
Dctcp::NewFlow(const FlowPath& path) const
{
    return std::make_unique<DctcpFlow>(m_gain, path);
}

DctcpFlow::DctcpFlow(double gain, const FlowPath& path)
    : m_gain(gain),
      m_packet(static_cast<double>(path.mtu)),
      m_most(std::max(m_packet,
                      static_cast<double>(path.lineRate) / 8e12 *
                          static_cast<double>(path.roundTrip))),
      m_window(m_most)
{
}

int64_t
DctcpFlow::GetWindow() const
{
    return std::llround(m_window);
}

void
DctcpFlow::Acknowledge(const AckReport& report)
{
    m_acked += report.bytes;
    m_marked += report.marked ? report.bytes : 0;
    if (report.missing)
    {
        m_marked = m_acked; // a loss counts as the strongest mark
    }
    if (report.acked < m_windowEnd || m_acked == 0)
    {
        return;
    }
    const double share = static_cast<double>(m_marked) / static_cast<double>(m_acked);
    m_alpha = (1 - m_gain) * m_alpha + m_gain * share;
    m_window = m_marked > 0 ? m_window * (1 - m_alpha / 2) : m_window + m_packet;
    // What waits in queues fills more than the idle line; twice that is as much as can be of use.
    m_window = std::clamp(m_window, m_packet, 2 * m_most);
    m_acked = 0;
    m_marked = 0;
    m_windowEnd = report.next;
}

void
DctcpFlow::TimeOut(int64_t)
{
    m_window = m_packet;
}

} // namespace ns3::rdma
