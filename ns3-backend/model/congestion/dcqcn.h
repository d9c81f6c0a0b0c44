#ifndef DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_DCQCN_H_
#define DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_DCQCN_H_

#include "ns3-backend/model/congestion/congestion-control.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

namespace ns3::rdma
{

/**
 * \brief DCQCN (Zhu et al., SIGCOMM 2015): the sender's part, the reaction point.
 *
 * A notification cuts the rate by alpha / 2, where alpha estimates the marked share of the traffic.
 * Between notifications a timer and a byte counter raise the rate: first half-way back to the rate
 * before the cut (fast recovery), then in steps (additive increase, finally hyper increase).
 */
class Dcqcn : public CongestionControl
{
  public:
    static TypeId GetTypeId();
    std::unique_ptr<FlowController> NewFlow(const FlowPath& path) const override;

    Needs GetNeeds() const override
    {
        Needs needs;
        needs.marks = Needs::RAMP;
        needs.notifications = true;
        return needs;
    }

    /// The attributes, in the units of FlowController.
    struct Parameters
    {
        double gain;
        int64_t alphaInterval;
        int64_t decreaseInterval;
        int64_t increaseInterval;
        int64_t increaseBytes;
        uint32_t fastRecoveries;
        double additive; //!< bits per second, at the queue pair's line rate
        double hyper;    //!< bits per second, at the queue pair's line rate
        double minRate;  //!< bits per second
    };

  private:
    double m_gain = 0;
    ns3::Time m_alphaInterval;
    ns3::Time m_decreaseInterval;
    ns3::Time m_increaseInterval;
    uint64_t m_increaseBytes = 0;
    uint32_t m_fastRecoveries = 0;
    DataRate m_additive;
    DataRate m_hyper;
    DataRate m_minRate;
};

/// One queue pair under DCQCN.
class DcqcnFlow : public FlowController
{
  public:
    DcqcnFlow(const Dcqcn::Parameters& parameters, int64_t lineRate);
    int64_t Send(int64_t now, int64_t bytes) override;
    void Notify(int64_t now) override;

    /// Returns the rate at \p now, bits per second.
    double GetRate(int64_t now);

  private:
    /// Applies the ticks of both timers up to \p now.
    void Advance(int64_t now);
    void Increase();

    const Dcqcn::Parameters m_parameters;
    const double m_line; //!< bits per second
    double m_rate;
    double m_target;
    double m_alpha = 1;
    int64_t m_lastAlpha = 0;    //!< when alpha was last updated
    int64_t m_lastCut = -1;     //!< -1: never, the flow runs at line rate
    int64_t m_lastIncrease = 0; //!< last tick of the timer
    int64_t m_bytes = 0;        //!< sent since the byte counter last expired
    uint32_t m_timerStage = 0;
    uint32_t m_byteStage = 0;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_DCQCN_H_
