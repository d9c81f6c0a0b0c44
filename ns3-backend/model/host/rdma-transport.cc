#include "ns3-backend/model/host/rdma-transport.h"

#include "ns3-backend/model/attributes/transport-attributes.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/pointer.h"
#include "ns3/uinteger.h"

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(RdmaTransport);

TypeId
RdmaTransport::GetTypeId()
{
    static TypeId tid = AddTransportAttributes(
        TypeId("ns3::rdma::RdmaTransport")
            .SetParent<Object>()
            .SetGroupName("Drydock")
            .AddConstructor<RdmaTransport>()
            .AddAttribute("Mtu",
                          "Payload of a full packet, bytes; `mtu` of the transport.",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&RdmaTransport::m_mtu),
                          MakeUintegerChecker<uint32_t>(1, 65535))
            .AddAttribute("PacketsPerAck",
                          "A queue pair requests an acknowledgement once in this many packets "
                          "(and with the last packet of a message, and when its window is full); "
                          "`packets_per_ack` of the transport.",
                          UintegerValue(16),
                          MakeUintegerAccessor(&RdmaTransport::m_packetsPerAck),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("QueuePairsPerConnection",
                          "Queue pairs that share the messages of a connection (a flow between two "
                          "NICs), each with its own 5-tuple; NCCL_IB_QPS_PER_CONNECTION, whose "
                          "default is 1.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RdmaTransport::m_queuePairs),
                          MakeUintegerChecker<uint32_t>(1, 128))
            .AddAttribute(
                "SplitData",
                "Each message goes in parts over all queue pairs of its connection, instead "
                "of over one queue pair in turn; NCCL_IB_SPLIT_DATA_ON_QPS, whose default "
                "is 0.",
                BooleanValue(false),
                MakeBooleanAccessor(&RdmaTransport::m_splitData),
                MakeBooleanChecker())
            .AddAttribute("Retransmission",
                          "How losses are repaired; `retransmission` of the transport.",
                          EnumValue(NEVER_LOST),
                          MakeEnumAccessor(&RdmaTransport::m_retransmission),
                          MakeEnumChecker(NEVER_LOST,
                                          "never-lost",
                                          GO_BACK_N,
                                          "go-back-n",
                                          SELECTIVE_REPEAT,
                                          "selective-repeat"))
            .AddAttribute("Reordering",
                          "Packets of a queue pair may overtake each other, and receivers restore "
                          "their order; from `routing` of the fabric.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RdmaTransport::m_reordering),
                          MakeBooleanChecker())
            .AddAttribute("CongestionControl",
                          "The algorithm that sets the rate of queue pairs; `congestion_control` "
                          "of the transport.",
                          PointerValue(),
                          MakePointerAccessor(&RdmaTransport::m_congestionControl),
                          MakePointerChecker<CongestionControl>()),
        {{"WindowBdp", MakeDoubleAccessor(&RdmaTransport::m_windowBdp)},
         {"DataPriority", MakeUintegerAccessor(&RdmaTransport::m_dataPriority)},
         {"AckPriority", MakeUintegerAccessor(&RdmaTransport::m_ackPriority)},
         {"CnpPriority", MakeUintegerAccessor(&RdmaTransport::m_cnpPriority)},
         {"TurnBytes", MakeUintegerAccessor(&RdmaTransport::m_turnBytes)},
         {"CnpInterval", MakeTimeAccessor(&RdmaTransport::m_cnpInterval)},
         {"AckTimeout", MakeTimeAccessor(&RdmaTransport::m_ackTimeout)},
         {"RetryCount", MakeUintegerAccessor(&RdmaTransport::m_retryCount)},
         {"NackInterval", MakeTimeAccessor(&RdmaTransport::m_nackInterval)},
         {"ReorderTime", MakeTimeAccessor(&RdmaTransport::m_reorderTime)}});
    return tid;
}

RdmaTransport::Parameters
RdmaTransport::GetParameters() const
{
    return {m_mtu,
            m_packetsPerAck,
            m_windowBdp,
            m_dataPriority,
            m_ackPriority,
            m_cnpPriority,
            m_turnBytes,
            m_queuePairs,
            m_splitData,
            m_cnpInterval.GetTimeStep(),
            m_retransmission,
            m_ackTimeout.GetTimeStep(),
            m_retryCount,
            m_nackInterval.GetTimeStep(),
            m_reordering,
            m_reorderTime.GetTimeStep(),
            PeekPointer(m_congestionControl),
            m_congestionControl ? m_congestionControl->GetNeeds() : CongestionControl::Needs()};
}

} // namespace ns3::rdma
