#include "ns3-backend/model/congestion/dcqcn.h"

#include "ns3-backend/model/wire/duration-checker.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(Dcqcn);

TypeId
Dcqcn::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::Dcqcn")
            .SetParent<CongestionControl>()
            .SetGroupName("Drydock")
            .AddConstructor<Dcqcn>()
            .AddAttribute("Gain",
                          "g: weight of a new observation in alpha. DCQCN paper, table 14: 1/256.",
                          DoubleValue(1.0 / 256),
                          MakeDoubleAccessor(&Dcqcn::m_gain),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("AlphaInterval",
                          "Time without a notification after which alpha decays. Paper: 55 us.",
                          TimeValue(MicroSeconds(55)),
                          MakeTimeAccessor(&Dcqcn::m_alphaInterval),
                          MakeDurationChecker(NanoSeconds(1)))
            .AddAttribute("DecreaseInterval",
                          "Least time between two cuts. Paper: 50 us, the notification period.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&Dcqcn::m_decreaseInterval),
                          MakeDurationChecker(ns3::Time(0)))
            .AddAttribute("IncreaseInterval",
                          "Period of the timer that raises the rate. Paper: 55 us.",
                          TimeValue(MicroSeconds(55)),
                          MakeTimeAccessor(&Dcqcn::m_increaseInterval),
                          MakeDurationChecker(NanoSeconds(1)))
            .AddAttribute("IncreaseBytes",
                          "Bytes sent after which the rate is raised, too. Paper: 10 MB.",
                          UintegerValue(10'000'000),
                          MakeUintegerAccessor(&Dcqcn::m_increaseBytes),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("FastRecoveries",
                          "F: steps half-way back before the target itself grows. Paper: 5.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Dcqcn::m_fastRecoveries),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("AdditiveIncrease",
                          "Step of the target for a line of 25 Gb/s, in proportion for others. "
                          "50 Mb/s: HPCC's configuration of DCQCN.",
                          DataRateValue(DataRate("50Mb/s")),
                          MakeDataRateAccessor(&Dcqcn::m_additive),
                          MakeDataRateChecker())
            .AddAttribute("HyperIncrease",
                          "Step of the target once timer and counter are both past fast recovery, "
                          "for a line of 25 Gb/s. Ten times the additive one, as in HPCC's "
                          "configuration.",
                          DataRateValue(DataRate("500Mb/s")),
                          MakeDataRateAccessor(&Dcqcn::m_hyper),
                          MakeDataRateChecker())
            .AddAttribute("MinRate",
                          "No queue pair is cut below it. 100 Mb/s: HPCC's configuration.",
                          DataRateValue(DataRate("100Mb/s")),
                          MakeDataRateAccessor(&Dcqcn::m_least),
                          MakeDataRateChecker());
    return tid;
}

std::unique_ptr<FlowController>
Dcqcn::NewFlow(const FlowPath& path) const
{
    constexpr double reference = 25e9;
    const double scale = static_cast<double>(path.lineRate) / reference;
    const auto bits = [](const DataRate& rate) { return static_cast<double>(rate.GetBitRate()); };
    const Parameters parameters{m_gain,
                                m_alphaInterval.GetTimeStep(),
                                m_decreaseInterval.GetTimeStep(),
                                m_increaseInterval.GetTimeStep(),
                                static_cast<int64_t>(m_increaseBytes),
                                m_fastRecoveries,
                                bits(m_additive) * scale,
                                bits(m_hyper) * scale,
                                bits(m_least)};
    return std::make_unique<DcqcnFlow>(parameters, path.lineRate);
}

DcqcnFlow::DcqcnFlow(const Dcqcn::Parameters& parameters, int64_t lineRate)
    : m_parameters(parameters),
      m_line(static_cast<double>(lineRate)),
      m_rate(m_line),
      m_target(m_line)
{
}

int64_t
DcqcnFlow::Send(int64_t now, int64_t bytes)
{
    if (m_lastCut < 0)
    {
        return 0; // the wire itself is the limit
    }
    Advance(now);
    m_bytes += bytes;
    if (m_bytes >= m_parameters.increaseBytes)
    {
        m_bytes -= m_parameters.increaseBytes;
        ++m_byteStage;
        Increase();
    }
    return TimeAt(m_rate, bytes);
}

void
DcqcnFlow::Notify(int64_t now)
{
    if (m_lastCut >= 0)
    {
        Advance(now);
    }
    m_lastAlpha = now;
    if (m_lastCut < 0 || now - m_lastCut >= m_parameters.decreaseInterval)
    {
        m_target = m_rate;
        m_rate = std::max(m_parameters.least, m_rate * (1 - m_alpha / 2));
        m_lastCut = now;
        m_lastIncrease = now;
        m_bytes = 0;
        m_timerStage = 0;
        m_byteStage = 0;
    }
    m_alpha = (1 - m_parameters.gain) * m_alpha + m_parameters.gain;
}

double
DcqcnFlow::GetRate(int64_t now)
{
    if (m_lastCut >= 0)
    {
        Advance(now);
    }
    return m_rate;
}

void
DcqcnFlow::Advance(int64_t now)
{
    // After so many decays alpha is below any rate's last bit.
    constexpr int64_t enough = 20'000;
    const int64_t decays = (now - m_lastAlpha) / m_parameters.alphaInterval;
    for (int64_t i = std::min(decays, enough); i > 0; --i)
    {
        m_alpha *= 1 - m_parameters.gain;
    }
    m_lastAlpha += decays * m_parameters.alphaInterval;
    const int64_t ticks = (now - m_lastIncrease) / m_parameters.increaseInterval;
    for (int64_t i = 0; i < ticks && m_rate < m_line; ++i)
    {
        ++m_timerStage;
        Increase();
    }
    m_lastIncrease += ticks * m_parameters.increaseInterval;
}

void
DcqcnFlow::Increase()
{
    const uint32_t recoveries = m_parameters.fastRecoveries;
    const uint32_t both = std::min(m_timerStage, m_byteStage);
    if (both > recoveries)
    {
        m_target += m_parameters.hyper * (both - recoveries);
    }
    else if (std::max(m_timerStage, m_byteStage) > recoveries)
    {
        m_target += m_parameters.additive;
    }
    m_target = std::min(m_target, m_line);
    m_rate = std::min((m_rate + m_target) / 2, m_line);
    if (m_line - m_rate < 1) // a bit per second: as good as back
    {
        m_rate = m_line;
    }
}

} // namespace ns3::rdma
