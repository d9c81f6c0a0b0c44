#include "ns3-backend/model/congestion/swift.h"

#include "ns3-backend/model/wire/duration-checker.h"

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
        TypeId("ns3::rdma::Swift")
            .SetParent<CongestionControl>()
            .SetGroupName("Drydock")
            .AddConstructor<Swift>()
            .AddAttribute("BaseTarget",
                          "Queueing that is aimed at, beyond the idle round trip. The paper gives "
                          "no value for other fabrics than its authors'; 10 us is a choice.",
                          TimeValue(MicroSeconds(10)),
                          MakeTimeAccessor(&Swift::m_base),
                          MakeDurationChecker(ns3::Time(0)))
            .AddAttribute("HopTarget",
                          "What each switch adds to the target. A choice.",
                          TimeValue(MicroSeconds(1)),
                          MakeTimeAccessor(&Swift::m_perHop),
                          MakeDurationChecker(ns3::Time(0)))
            .AddAttribute("FlowRange",
                          "Most that a small window adds to the target. Five times the base: a "
                          "choice.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&Swift::m_flowRange),
                          MakeDurationChecker(ns3::Time(0)))
            .AddAttribute("FlowMin",
                          "Packets: at this window and below FlowRange is added. Swift paper, 3.5: "
                          "0.1.",
                          DoubleValue(0.1),
                          MakeDoubleAccessor(&Swift::m_flowLeast),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("FlowMax",
                          "Packets: at this window and above nothing is added. Paper, 3.5: 100.",
                          DoubleValue(100),
                          MakeDoubleAccessor(&Swift::m_flowMost),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("AdditiveIncrease",
                          "ai: packets by which a window grows each round trip. A choice.",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&Swift::m_increase),
                          MakeDoubleChecker<double>(0.0, 1e6))
            .AddAttribute("Decrease",
                          "beta: of the relative excess of a round trip. A choice.",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&Swift::m_decrease),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("MaxDecrease",
                          "max_mdf: most of a window that is cut at once. A choice.",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&Swift::m_mostDecrease),
                          MakeDoubleChecker<double>(0.0, 0.99))
            .AddAttribute("MinWindow",
                          "Packets: no window is smaller. A choice.",
                          DoubleValue(0.01),
                          MakeDoubleAccessor(&Swift::m_leastWindow),
                          MakeDoubleChecker<double>(1e-6, 1e6));
    return tid;
}

std::unique_ptr<FlowController>
Swift::NewFlow(const FlowPath& path) const
{
    const auto ps = [](const ns3::Time& time) { return static_cast<double>(time.GetTimeStep()); };
    return std::make_unique<SwiftFlow>(Parameters{ps(m_base),
                                                  ps(m_perHop),
                                                  ps(m_flowRange),
                                                  m_flowLeast,
                                                  m_flowMost,
                                                  m_increase,
                                                  m_decrease,
                                                  m_mostDecrease,
                                                  m_leastWindow},
                                       path);
}

SwiftFlow::SwiftFlow(const Swift::Parameters& parameters, const FlowPath& path)
    : m_parameters(parameters),
      m_packet(static_cast<double>(path.mtu)),
      m_idle(static_cast<double>(path.roundTrip) + parameters.perHop * path.hops),
      m_most(std::max(1.0,
                      2 * static_cast<double>(path.lineRate) / 8e12 * (m_idle + parameters.base) /
                          m_packet)),
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
    const double atMost = 1 / std::sqrt(p.flowMost);
    const double span = 1 / std::sqrt(p.flowLeast) - atMost;
    const double share = span > 0 ? (1 / std::sqrt(m_window) - atMost) / span : 0;
    return m_idle + p.base + p.flowRange * std::clamp(share, 0.0, 1.0);
}

void
SwiftFlow::Acknowledge(const AckReport& report)
{
    const Swift::Parameters& p = m_parameters;
    if (report.missing)
    {
        Cut(report.now, 1 - p.mostDecrease);
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
        m_window = std::min(m_window, m_most);
        return;
    }
    const double excess = (m_roundTrip - target) / m_roundTrip;
    Cut(report.now, std::max(1 - p.decrease * excess, 1 - p.mostDecrease));
}

void
SwiftFlow::TimeOut(int64_t now)
{
    Cut(now, 1 - m_parameters.mostDecrease);
}

void
SwiftFlow::Cut(int64_t now, double factor)
{
    if (m_lastCut >= 0 && static_cast<double>(now - m_lastCut) < m_roundTrip)
    {
        return;
    }
    m_lastCut = now;
    m_window = std::max(m_parameters.leastWindow, m_window * factor);
}

} // namespace ns3::rdma
