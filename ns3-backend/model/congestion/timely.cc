#include "ns3-backend/model/congestion/timely.h"

#include "ns3-backend/model/wire/duration-checker.h"

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
        TypeId("ns3::rdma::Timely")
            .SetParent<CongestionControl>()
            .SetGroupName("Drydock")
            .AddConstructor<Timely>()
            .AddAttribute("Weight",
                          "alpha: of a new difference of round trips in their average. HPCC's "
                          "configuration of TIMELY: 0.875.",
                          DoubleValue(0.875),
                          MakeDoubleAccessor(&Timely::m_weight),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("Decrease",
                          "beta: of the gradient in the rate. TIMELY paper, 5: 0.8.",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&Timely::m_decrease),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("LowRoundTrip",
                          "Tlow: below it the rate always grows. Paper, 4.4: 50 us.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&Timely::m_low),
                          MakeDurationChecker(ns3::Time(0)))
            .AddAttribute("HighRoundTrip",
                          "Thigh: above it the rate always falls. Paper, 4.4: 500 us.",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&Timely::m_high),
                          MakeDurationChecker(NanoSeconds(1)))
            .AddAttribute("MinRoundTrip",
                          "What differences are measured in. Paper, 4.3: 20 us.",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&Timely::m_unit),
                          MakeDurationChecker(NanoSeconds(1)))
            .AddAttribute("AdditiveIncrease",
                          "delta: step of the rate for a line of 25 Gb/s, in proportion for "
                          "others. Paper, 5: 10 Mb/s at 10 Gb/s.",
                          DataRateValue(DataRate("25Mb/s")),
                          MakeDataRateAccessor(&Timely::m_step),
                          MakeDataRateChecker())
            .AddAttribute("HyperactiveAfter",
                          "Completions in a row without growth after which steps are five times "
                          "as large. Paper, 4.3: 5.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Timely::m_hyper),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("MinRate",
                          "No queue pair is slower. 100 Mb/s: HPCC's configuration.",
                          DataRateValue(DataRate("100Mb/s")),
                          MakeDataRateAccessor(&Timely::m_least),
                          MakeDataRateChecker());
    return tid;
}

std::unique_ptr<FlowController>
Timely::NewFlow(const FlowPath& path) const
{
    const double scale = static_cast<double>(path.lineRate) / 25e9;
    const auto ps = [](const ns3::Time& time) { return static_cast<double>(time.GetTimeStep()); };
    const auto bits = [](const DataRate& rate) { return static_cast<double>(rate.GetBitRate()); };
    return std::make_unique<TimelyFlow>(Parameters{m_weight,
                                                   m_decrease,
                                                   ps(m_low),
                                                   ps(m_high),
                                                   ps(m_unit),
                                                   bits(m_step) * scale,
                                                   m_hyper,
                                                   bits(m_least)},
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
    m_rate = std::clamp(m_rate, std::min(p.least, m_line), m_line);
}

} // namespace ns3::rdma
