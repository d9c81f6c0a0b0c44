#ifndef DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_DCTCP_H_
#define DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_DCTCP_H_

#include "ns3-backend/model/congestion/congestion-control.h"

namespace ns3::rdma
{

/**
 * \brief DCTCP (Alizadeh et al., SIGCOMM 2010) for queue pairs: windows cut by the share of marked
 * packets.
 *
 * Once per window of data, alpha is updated with the share of its bytes that were marked. If any
 * were, the window is cut by alpha / 2; otherwise it grows by one packet. A queue pair starts with
 * the window that fills its line, as RDMA does, not with a slow start.
 */
class Dctcp : public CongestionControl
{
  public:
    static TypeId GetTypeId();
    std::unique_ptr<FlowController> NewFlow(const FlowPath& path) const override;

    Needs GetNeeds() const override
    {
        Needs needs;
        needs.marks = Needs::STEP;
        needs.echoes = true;
        return needs;
    }

  private:
    double m_gain = 0;
};

/// One queue pair under DCTCP.
class DctcpFlow : public FlowController
{
  public:
    DctcpFlow(double gain, const FlowPath& path);

    int64_t Send(int64_t, int64_t) override
    {
        return 0; // the window alone is the limit
    }

    void Acknowledge(const AckReport& report) override;
    void TimeOut(int64_t now) override;
    int64_t GetWindow() const override;

    double GetAlpha() const
    {
        return m_alpha;
    }

  private:
    const double m_gain;
    const double m_packet;     //!< bytes
    const double m_lineWindow; //!< bytes
    double m_window;           //!< bytes
    double m_alpha = 0;
    int64_t m_acked = 0;      //!< bytes, since the window began
    int64_t m_marked = 0;     //!< of m_acked
    uint64_t m_windowEnd = 0; //!< packet with which it ends
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_DCTCP_H_
