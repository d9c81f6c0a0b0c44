#ifndef DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_TIMELY_H_
#define DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_TIMELY_H_

#include "ns3-backend/model/congestion/congestion-control.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

namespace ns3::rdma
{

/**
 * \brief TIMELY (Mittal et al., SIGCOMM 2015): rates from the gradient of round-trip times.
 *
 * Each acknowledgement is a completion event of algorithm 1. Growing round trips lower the rate in
 * proportion to their gradient; other round trips raise it in steps. Below Tlow the rate always
 * grows, above Thigh it always falls.
 */
class Timely : public CongestionControl
{
  public:
    static TypeId GetTypeId();
    std::unique_ptr<FlowController> NewFlow(const FlowPath& path) const override;

    Needs GetNeeds() const override
    {
        Needs needs;
        needs.roundTrips = true;
        return needs;
    }

    /// The attributes, in the units of FlowController.
    struct Parameters
    {
        double weight;   //!< alpha
        double decrease; //!< beta
        double low;      //!< Tlow, ps
        double high;     //!< Thigh, ps
        double unit;     //!< minRTT, ps
        double step;     //!< delta, bits per second at the queue pair's line rate
        uint32_t hyper;  //!< completions without growth before hyperactive increase
        double minRate;  //!< bits per second
    };

  private:
    double m_weight = 0;
    double m_decrease = 0;
    ns3::Time m_low;
    ns3::Time m_high;
    ns3::Time m_unit;
    DataRate m_step;
    uint32_t m_hyper = 0;
    DataRate m_minRate;
};

/// One queue pair under TIMELY.
class TimelyFlow : public FlowController
{
  public:
    TimelyFlow(const Timely::Parameters& parameters, int64_t lineRate);
    int64_t Send(int64_t now, int64_t bytes) override;
    void Acknowledge(const AckReport& report) override;

    /// Returns the rate, bits per second.
    double GetRate() const
    {
        return m_rate;
    }

  private:
    const Timely::Parameters m_parameters;
    const double m_line; //!< bits per second
    double m_rate;
    double m_last = -1;      //!< round trip, ps; -1: none
    double m_difference = 0; //!< smoothed, of consecutive round trips, ps
    uint32_t m_calm = 0;     //!< completions in a row without growth
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_TIMELY_H_
