#include "ns3-backend/model/congestion/timely.h"

#include "ns3-backend/model/attributes/reference-rate.h"
#include "ns3-backend/model/attributes/transport-attributes.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Timely);

TypeId
Timely::GetTypeId()
{
    static TypeId tid =
        AddTransportAttributes(TypeId("ns3::rdma::Timely")
                                   .SetParent<CongestionControl>()
                                   .SetGroupName("Drydock")
                                   .AddConstructor<Timely>(),
                               {{"Weight", MakeDoubleAccessor(&Timely::m_weight)},
                                {"Decrease", MakeDoubleAccessor(&Timely::m_decrease)},
                                {"LowRoundTrip", MakeTimeAccessor(&Timely::m_low)},
                                {"HighRoundTrip", MakeTimeAccessor(&Timely::m_high)},
                                {"MinRoundTrip", MakeTimeAccessor(&Timely::m_unit)},
                                {"AdditiveIncrease", MakeDataRateAccessor(&Timely::m_step)},
                                {"HyperactiveAfter", MakeUintegerAccessor(&Timely::m_hyper)},
                                {"MinRate", MakeDataRateAccessor(&Timely::m_minRate)}});
    return tid;
}

std::unique_ptr<FlowController>
Timely::NewFlow(const FlowPath& path) const
{
    const double scale = ScaleFromReference(path.lineRate);
    const auto ps = [](const ns3::Time& time) { return static_cast<double>(time.GetTimeStep()); };
    const auto bits = [](const DataRate& rate) { return static_cast<double>(rate.GetBitRate()); };
    return std::make_unique<TimelyFlow>(Parameters{m_weight,
                                                   m_decrease,
                                                   ps(m_low),
                                                   ps(m_high),
                                                   ps(m_unit),
                                                   bits(m_step) * scale,
                                                   m_hyper,
                                                   bits(m_minRate)},
                                        path.lineRate);
}

TimelyFlow::TimelyFlow(const Timely::Parameters& parameters, int64_t lineRate)
    : m_parameters(parameters),
      m_line(static_cast<double>(lineRate)),
      m_rate(m_line)
{
}

int64_t
TimelyFlow::Send(int64_t, int64_t bytes)
{
    return TimeAt(m_rate, bytes);
}

void
TimelyFlow::Acknowledge(const AckReport& report)
{
    if (report.roundTrip < 0)
    {
        return;
    }
    const Timely::Parameters& p = m_parameters;
    const auto roundTrip = static_cast<double>(report.roundTrip);
    const double difference = m_last < 0 ? 0 : roundTrip - m_last;
    m_last = roundTrip;
    m_difference = (1 - p.weight) * m_difference + p.weight * difference;
    const double gradient = m_difference / p.unit;
    m_calm = gradient <= 0 ? m_calm + 1 : 0;
    if (roundTrip < p.low)
    {
        m_rate += p.step;
    }
    else if (roundTrip > p.high)
    {
        m_rate *= 1 - p.decrease * (1 - p.high / roundTrip);
    }
    else if (gradient <= 0)
    {
        m_rate += (m_calm >= p.hyper ? 5 : 1) * p.step;
    }
    else
    {
        m_rate *= std::max(0.0, 1 - p.decrease * gradient);
    }
    m_rate = std::clamp(m_rate, std::min(p.minRate, m_line), m_line);
}

} // namespace ns3::rdma
