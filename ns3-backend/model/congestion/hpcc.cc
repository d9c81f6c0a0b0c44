#include "ns3-backend/model/congestion/hpcc.h"

#include "ns3-backend/model/attributes/transport-attributes.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Hpcc);

TypeId
Hpcc::GetTypeId()
{
    static TypeId tid =
        AddTransportAttributes(TypeId("ns3::rdma::Hpcc")
                                   .SetParent<CongestionControl>()
                                   .SetGroupName("Drydock")
                                   .AddConstructor<Hpcc>(),
                               {{"Target", MakeDoubleAccessor(&Hpcc::m_target)},
                                {"MaxStage", MakeUintegerAccessor(&Hpcc::m_stages)},
                                {"AdditiveIncrease", MakeUintegerAccessor(&Hpcc::m_increase)},
                                {"HeaderBytes", MakeUintegerAccessor(&Hpcc::m_header)}});
    return tid;
}

CongestionControl::Needs
Hpcc::GetNeeds() const
{
    Needs needs;
    needs.telemetryBytes = m_header;
    return needs;
}

std::unique_ptr<FlowController>
Hpcc::NewFlow(const FlowPath& path) const
{
    return std::make_unique<HpccFlow>(
        Parameters{m_target, m_stages, static_cast<double>(m_increase)},
        path);
}

HpccFlow::HpccFlow(const Hpcc::Parameters& parameters, const FlowPath& path)
    : m_parameters(parameters),
      m_line(static_cast<double>(path.lineRate)),
      m_roundTrip(static_cast<double>(path.roundTrip)),
      m_lineWindow(m_line / 8e12 * m_roundTrip),
      m_minWindow(static_cast<double>(path.mtu)),
      m_window(m_lineWindow),
      m_reference(m_lineWindow)
{
}

int64_t
HpccFlow::Send(int64_t, int64_t bytes)
{
    // R = W / T, never above the line.
    return TimeAt(std::min(m_line, m_window / m_roundTrip * 8e12), bytes);
}

int64_t
HpccFlow::GetWindow() const
{
    return std::llround(m_window);
}

void
HpccFlow::Acknowledge(const AckReport& report)
{
    if (report.telemetry == nullptr || report.telemetry->count == 0)
    {
        return; // no switch on the path
    }
    const bool first = m_last.count == 0;
    if (!first)
    {
        Measure(*report.telemetry);
        const bool newReference = report.acked > m_referencePsn;
        m_window = NewWindow(newReference);
        if (newReference)
        {
            m_reference = m_window;
            m_referencePsn = report.next;
        }
    }
    m_last = *report.telemetry;
}

void
HpccFlow::Measure(const Telemetry& now)
{
    double load = 0;
    double apart = 0;
    for (uint32_t i = 0; i < std::min(now.count, m_last.count); ++i)
    {
        const Telemetry::Hop& hop = now.hops[i];
        const Telemetry::Hop& last = m_last.hops[i];
        const auto elapsed = static_cast<double>(hop.time - last.time);
        if (hop.link != last.link || elapsed <= 0)
        {
            continue; // the path has changed
        }
        const double rate = static_cast<double>(hop.rate);
        const double sent = static_cast<double>(hop.sent - last.sent) * 8e12 / elapsed;
        const double queue = static_cast<double>(std::min(hop.queue, last.queue)) * 8e12;
        const double here = queue / (rate * m_roundTrip) + sent / rate;
        if (here > load)
        {
            load = here;
            apart = elapsed;
        }
    }
    const double weight = std::min(apart, m_roundTrip) / m_roundTrip;
    m_load = (1 - weight) * m_load + weight * load;
}

double
HpccFlow::NewWindow(bool newReference)
{
    double window = m_reference + m_parameters.increase;
    if (m_load >= m_parameters.target || m_stage >= m_parameters.stages)
    {
        window = m_reference / (m_load / m_parameters.target) + m_parameters.increase;
        m_stage = newReference ? 0 : m_stage;
    }
    else if (newReference)
    {
        ++m_stage;
    }
    return std::clamp(window, m_minWindow, std::max(m_lineWindow, m_minWindow));
}

} // namespace ns3::rdma
