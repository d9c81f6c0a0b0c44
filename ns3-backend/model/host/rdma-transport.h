#ifndef DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_TRANSPORT_H_
#define DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_TRANSPORT_H_

#include "ns3-backend/model/congestion/congestion-control.h"

#include "ns3/nstime.h"
#include "ns3/object.h"

#include <cstdint>

namespace ns3::rdma
{

/// How a queue pair repairs losses.
enum Retransmission
{
    NEVER_LOST,       //!< no packet is lost: there are no timeouts
    GO_BACK_N,        //!< sends every packet again from the first missing one
    SELECTIVE_REPEAT, //!< sends the missing packets again
};

/**
 * \brief The attributes of the queue pairs of all hosts.
 *
 * One object serves all hosts. It is constant during a run, so all threads may read it.
 */
class RdmaTransport : public Object
{
  public:
    static TypeId GetTypeId();

    /// The attributes; times in ps.
    struct Parameters
    {
        uint32_t mtu;
        uint32_t packetsPerAck;
        double windowBdp;
        uint8_t dataPriority;
        uint8_t ackPriority;
        uint8_t cnpPriority;
        int64_t turnBytes;
        uint32_t queuePairs; //!< queue pairs of a connection
        bool splitData;      //!< each message goes over all queue pairs of its connection
        int64_t cnpInterval;
        Retransmission retransmission;
        int64_t ackTimeout;
        uint32_t retryCount;
        int64_t nackInterval;
        bool reordering;
        int64_t reorderTime;
        const CongestionControl* congestionControl; //!< null: none
        CongestionControl::Needs needs;             //!< of the congestion control
    };

    Parameters GetParameters() const;

  private:
    uint32_t m_mtu = 0;
    uint32_t m_packetsPerAck = 0;
    double m_windowBdp = 0;
    uint8_t m_dataPriority = 0;
    uint8_t m_ackPriority = 0;
    uint8_t m_cnpPriority = 0;
    uint32_t m_turnBytes = 0;
    uint32_t m_queuePairs = 0;
    bool m_splitData = false;
    ns3::Time m_cnpInterval;
    Retransmission m_retransmission = NEVER_LOST;
    ns3::Time m_ackTimeout;
    uint32_t m_retryCount = 0;
    ns3::Time m_nackInterval;
    bool m_reordering = false;
    ns3::Time m_reorderTime;
    Ptr<CongestionControl> m_congestionControl;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_HOST_RDMA_TRANSPORT_H_
