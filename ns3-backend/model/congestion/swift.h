#ifndef DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_SWIFT_H_
#define DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_SWIFT_H_

#include "ns3-backend/model/congestion/congestion-control.h"

#include "ns3/nstime.h"

namespace ns3::rdma
{

/**
 * \brief Swift (Kumar et al., SIGCOMM 2020): windows that hold round trips at a target.
 *
 * The target is the sum of the idle round trip, a base, an addition for each hop, and an addition
 * that grows as the window shrinks, so that many flows converge (sections 3.2 and 3.5). Windows are
 * counted in packets. Below a window of one, packets are spaced (3.4). Hosts here acknowledge at
 * once, so the host delay that Swift distinguishes is zero.
 */
class Swift : public CongestionControl
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

    /// The attributes; times in ps, windows in packets.
    struct Parameters
    {
        double base;
        double perHop;
        double flowRange;
        double flowMin;
        double flowMax;
        double increase;
        double decrease;
        double maxDecrease;
        double minWindow;
    };

  private:
    ns3::Time m_base;
    ns3::Time m_perHop;
    ns3::Time m_flowRange;
    double m_flowMin = 0;
    double m_flowMax = 0;
    double m_increase = 0;
    double m_decrease = 0;
    double m_maxDecrease = 0;
    double m_minWindow = 0;
};

/// One queue pair under Swift.
class SwiftFlow : public FlowController
{
  public:
    SwiftFlow(const Swift::Parameters& parameters, const FlowPath& path);
    int64_t Send(int64_t now, int64_t bytes) override;
    void Acknowledge(const AckReport& report) override;
    void TimeOut(int64_t now) override;
    int64_t GetWindow() const override;

    /// Returns the target round trip, ps.
    double GetTarget() const;

  private:
    /// Multiplies the window by \p factor, at most once a round trip.
    void Cut(int64_t now, double factor);

    const Swift::Parameters m_parameters;
    const double m_packet;    //!< bytes
    const double m_idle;      //!< round trip and hops, ps
    const double m_maxWindow; //!< packets
    double m_window;          //!< packets
    double m_roundTrip;       //!< the last one, ps
    int64_t m_lastCut = -1;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_SWIFT_H_
