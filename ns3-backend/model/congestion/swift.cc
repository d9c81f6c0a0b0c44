#include "ns3-backend/model/congestion/swift.h"

#include "ns3-backend/model/attributes/transport-attributes.h"

#include "ns3/double.h"

#include <algorithm>
#include <cmath>

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Swift);

TypeId
Swift::GetTypeId()
{
    static TypeId tid =
        AddTransportAttributes(TypeId("ns3::rdma::Swift")
                                   .SetParent<CongestionControl>()
                                   .SetGroupName("Drydock")
                                   .AddConstructor<Swift>(),
                               {{"BaseTarget", MakeTimeAccessor(&Swift::m_base)},
                                {"HopTarget", MakeTimeAccessor(&Swift::m_perHop)},
                                {"FlowRange", MakeTimeAccessor(&Swift::m_flowRange)},
                                {"FlowMin", MakeDoubleAccessor(&Swift::m_flowMin)},
                                {"FlowMax", MakeDoubleAccessor(&Swift::m_flowMax)},
                                {"AdditiveIncrease", MakeDoubleAccessor(&Swift::m_increase)},
                                {"Decrease", MakeDoubleAccessor(&Swift::m_decrease)},
                                {"MaxDecrease", MakeDoubleAccessor(&Swift::m_maxDecrease)},
                                {"MinWindow", MakeDoubleAccessor(&Swift::m_minWindow)}});
    return tid;
}

std::unique_ptr<FlowController>
Swift::NewFlow(const FlowPath& path) const
{
    const auto ps = [](const ns3::Time& time) { return static_cast<double>(time.GetTimeStep()); };
    return std::make_unique<SwiftFlow>(Parameters{ps(m_base),
                                                  ps(m_perHop),
                                                  ps(m_flowRange),
                                                  m_flowMin,
                                                  m_flowMax,
                                                  m_increase,
                                                  m_decrease,
                                                  m_maxDecrease,
                                                  m_minWindow},
                                       path);
}

SwiftFlow::SwiftFlow(const Swift::Parameters& parameters, const FlowPath& path)
    : m_parameters(parameters),
      m_packet(static_cast<double>(path.mtu)),
      m_idle(static_cast<double>(path.roundTrip) + parameters.perHop * path.hops),
      m_maxWindow(std::max(1.0,
                           2 * static_cast<double>(path.lineRate) / 8e12 *
                               (m_idle + parameters.base) / m_packet)),
      m_window(std::max(1.0,
                        static_cast<double>(path.lineRate) / 8e12 *
                            static_cast<double>(path.roundTrip) / m_packet)),
      m_roundTrip(static_cast<double>(path.roundTrip))
{
}

int64_t
SwiftFlow::Send(int64_t, int64_t)
{
    return m_window < 1 ? std::llround(m_roundTrip / m_window) : 0;
}

int64_t
SwiftFlow::GetWindow() const
{
    return std::llround(std::max(1.0, m_window) * m_packet);
}

double
SwiftFlow::GetTarget() const
{
    const Swift::Parameters& p = m_parameters;
    // alpha / sqrt(window) + beta, through FlowRange at FlowMin and 0 at FlowMax.
    const double atMost = 1 / std::sqrt(p.flowMax);
    const double span = 1 / std::sqrt(p.flowMin) - atMost;
    const double share = span > 0 ? (1 / std::sqrt(m_window) - atMost) / span : 0;
    return m_idle + p.base + p.flowRange * std::clamp(share, 0.0, 1.0);
}

void
SwiftFlow::Acknowledge(const AckReport& report)
{
    const Swift::Parameters& p = m_parameters;
    if (report.missing)
    {
        Cut(report.now, 1 - p.maxDecrease);
        return;
    }
    if (report.roundTrip < 0)
    {
        return;
    }
    m_roundTrip = static_cast<double>(report.roundTrip);
    const double target = GetTarget();
    if (m_roundTrip < target)
    {
        const double packets = static_cast<double>(report.bytes) / m_packet;
        m_window += p.increase * packets / std::max(1.0, m_window);
        m_window = std::min(m_window, m_maxWindow);
        return;
    }
    const double excess = (m_roundTrip - target) / m_roundTrip;
    Cut(report.now, std::max(1 - p.decrease * excess, 1 - p.maxDecrease));
}

void
SwiftFlow::TimeOut(int64_t now)
{
    Cut(now, 1 - m_parameters.maxDecrease);
}

void
SwiftFlow::Cut(int64_t now, double factor)
{
    if (m_lastCut >= 0 && static_cast<double>(now - m_lastCut) < m_roundTrip)
    {
        return;
    }
    m_lastCut = now;
    m_window = std::max(m_parameters.minWindow, m_window * factor);
}

} // namespace ns3::rdma
