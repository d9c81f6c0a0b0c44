#include "ns3-backend/model/congestion/dcqcn.h"

#include "ns3-backend/model/attributes/reference-rate.h"
#include "ns3-backend/model/attributes/transport-attributes.h"

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
        AddTransportAttributes(TypeId("ns3::rdma::Dcqcn")
                                   .SetParent<CongestionControl>()
                                   .SetGroupName("Drydock")
                                   .AddConstructor<Dcqcn>(),
                               {{"Gain", MakeDoubleAccessor(&Dcqcn::m_gain)},
                                {"AlphaInterval", MakeTimeAccessor(&Dcqcn::m_alphaInterval)},
                                {"DecreaseInterval", MakeTimeAccessor(&Dcqcn::m_decreaseInterval)},
                                {"IncreaseInterval", MakeTimeAccessor(&Dcqcn::m_increaseInterval)},
                                {"IncreaseBytes", MakeUintegerAccessor(&Dcqcn::m_increaseBytes)},
                                {"FastRecoveries", MakeUintegerAccessor(&Dcqcn::m_fastRecoveries)},
                                {"AdditiveIncrease", MakeDataRateAccessor(&Dcqcn::m_additive)},
                                {"HyperIncrease", MakeDataRateAccessor(&Dcqcn::m_hyper)},
                                {"MinRate", MakeDataRateAccessor(&Dcqcn::m_minRate)}});
    return tid;
}

std::unique_ptr<FlowController>
Dcqcn::NewFlow(const FlowPath& path) const
{
    const double scale = ScaleFromReference(path.lineRate);
    const auto bits = [](const DataRate& rate) { return static_cast<double>(rate.GetBitRate()); };
    const Parameters parameters{m_gain,
                                m_alphaInterval.GetTimeStep(),
                                m_decreaseInterval.GetTimeStep(),
                                m_increaseInterval.GetTimeStep(),
                                static_cast<int64_t>(m_increaseBytes),
                                m_fastRecoveries,
                                bits(m_additive) * scale,
                                bits(m_hyper) * scale,
                                bits(m_minRate)};
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
        m_rate = std::max(m_parameters.minRate, m_rate * (1 - m_alpha / 2));
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
    // After this many decays alpha no longer changes a rate.
    constexpr int64_t maxDecays = 20'000;
    const int64_t decays = (now - m_lastAlpha) / m_parameters.alphaInterval;
    for (int64_t i = std::min(decays, maxDecays); i > 0; --i)
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
    if (m_line - m_rate < 1) // within a bit per second of the line rate
    {
        m_rate = m_line;
    }
}

} // namespace ns3::rdma
