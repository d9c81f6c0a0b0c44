#include "ns3-backend/model/congestion/dctcp.h"

#include "ns3-backend/model/attributes/transport-attributes.h"

#include "ns3/double.h"

#include <algorithm>
#include <cmath>

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Dctcp);

TypeId
Dctcp::GetTypeId()
{
    static TypeId tid = AddTransportAttributes(TypeId("ns3::rdma::Dctcp")
                                                   .SetParent<CongestionControl>()
                                                   .SetGroupName("Drydock")
                                                   .AddConstructor<Dctcp>(),
                                               {{"Gain", MakeDoubleAccessor(&Dctcp::m_gain)}});
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
      m_lineWindow(std::max(m_packet,
                            static_cast<double>(path.lineRate) / 8e12 *
                                static_cast<double>(path.roundTrip))),
      m_window(m_lineWindow)
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
    // Queues hold bytes beyond the idle line; a window of more than twice the line is of no use.
    m_window = std::clamp(m_window, m_packet, 2 * m_lineWindow);
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
