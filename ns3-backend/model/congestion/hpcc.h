#ifndef DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_HPCC_H_
#define DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_HPCC_H_

#include "ns3-backend/model/congestion/congestion-control.h"

namespace ns3::rdma
{

/**
 * \brief HPCC (Li et al., SIGCOMM 2019): windows from the load that switches report.
 *
 * The acknowledgement of each packet carries, for every switch port on the path, how many bytes the
 * port had sent, how many waited there, and when. From two such records the sender computes the
 * bytes in flight through the most loaded port, as a share U of what fills its link (equation 2).
 * It scales its window by eta / U, and sets a new reference window at most once a round trip
 * (algorithm 1).
 */
class Hpcc : public CongestionControl
{
  public:
    static TypeId GetTypeId();
    std::unique_ptr<FlowController> NewFlow(const FlowPath& path) const override;
    Needs GetNeeds() const override;

    /// The attributes, in the units of FlowController.
    struct Parameters
    {
        double target;   //!< eta
        uint32_t stages; //!< maxStage
        double increase; //!< W_AI, bytes
    };

  private:
    double m_target = 0;
    uint32_t m_stages = 0;
    uint32_t m_increase = 0;
    uint32_t m_header = 0;
};

/// One queue pair under HPCC.
class HpccFlow : public FlowController
{
  public:
    HpccFlow(const Hpcc::Parameters& parameters, const FlowPath& path);
    int64_t Send(int64_t now, int64_t bytes) override;
    void Acknowledge(const AckReport& report) override;
    int64_t GetWindow() const override;

    /// Returns U: the load of the most loaded port, 1 if its link is just full.
    double GetLoad() const
    {
        return m_load;
    }

  private:
    void Measure(const Telemetry& telemetry);
    double NewWindow(bool newReference);

    const Hpcc::Parameters m_parameters;
    const double m_line;       //!< bits per second
    const double m_roundTrip;  //!< T, ps
    const double m_lineWindow; //!< window that fills the line, bytes
    const double m_minWindow;  //!< a packet
    double m_window;           //!< W
    double m_reference;        //!< W^c
    double m_load = 1;
    uint32_t m_stage = 0;        //!< incStage
    uint64_t m_referencePsn = 0; //!< lastUpdateSeq
    Telemetry m_last;            //!< L
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_CONGESTION_HPCC_H_
