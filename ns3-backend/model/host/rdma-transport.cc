#include "ns3-backend/model/host/rdma-transport.h"

#include "core/model/fabric/connection_shape.h"
#include "ns3-backend/model/wire/duration-checker.h"
#include "ns3-backend/model/wire/pause-table.h"

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
    static TypeId tid =
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
                          "A queue pair asks for an acknowledgement with every so many packets "
                          "(and with the last of a message, and when its window is full); "
                          "`packets_per_ack` of the transport.",
                          UintegerValue(16),
                          MakeUintegerAccessor(&RdmaTransport::m_packetsPerAck),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute(
                "WindowBdp",
                "Bytes a queue pair may have unacknowledged, in bandwidth-delay products "
                "of its own idle path; PacketsPerAck packets are added, for what "
                "coalescing holds back. HPCC (SIGCOMM 2019) starts a flow with "
                "one product in flight; the second leaves room for acknowledgements that queue "
                "behind data on their way back.",
                DoubleValue(drydock::kWindowBdp),
                MakeDoubleAccessor(&RdmaTransport::m_windowBdp),
                MakeDoubleChecker<double>(0.0, 1e6))
            .AddAttribute("DataPriority",
                          "Traffic class of packets with data. 3: usual for RoCE.",
                          UintegerValue(3),
                          MakeUintegerAccessor(&RdmaTransport::m_dataPriority),
                          MakeUintegerChecker<uint8_t>(0, CLASSES - 1))
            .AddAttribute("AckPriority",
                          "Traffic class of acknowledgements. 3: that of the data, as RoCE NICs "
                          "send them.",
                          UintegerValue(3),
                          MakeUintegerAccessor(&RdmaTransport::m_ackPriority),
                          MakeUintegerChecker<uint8_t>(0, CLASSES - 1))
            .AddAttribute("CnpPriority",
                          "Traffic class of congestion notifications. 6: ConnectX's default.",
                          UintegerValue(6),
                          MakeUintegerAccessor(&RdmaTransport::m_cnpPriority),
                          MakeUintegerChecker<uint8_t>(0, CLASSES - 1))
            .AddAttribute("TurnBytes",
                          "Bytes, headers included, that a queue pair sends before the next of its "
                          "NIC has its turn (deficit round robin); at least a full packet. 0: "
                          "turns of one packet, however long (round robin), as in the NIC of the "
                          "HPCC simulations.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RdmaTransport::m_turnBytes),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "QueuePairsPerConnection",
                "Queue pairs that share the messages of a connection (a flow between two "
                "NICs), each with a 5-tuple of its own; NCCL_IB_QPS_PER_CONNECTION, whose "
                "default is 1.",
                UintegerValue(1),
                MakeUintegerAccessor(&RdmaTransport::m_queuePairs),
                MakeUintegerChecker<uint32_t>(1, 128))
            .AddAttribute(
                "SplitData",
                "Each message goes in parts over all queue pairs of its connection, else "
                "messages take them in turns; NCCL_IB_SPLIT_DATA_ON_QPS, whose default is "
                "0.",
                BooleanValue(false),
                MakeBooleanAccessor(&RdmaTransport::m_splitData),
                MakeBooleanChecker())
            .AddAttribute("CnpInterval",
                          "Least time between two notifications to one queue pair. 50 us: DCQCN "
                          "(SIGCOMM 2015), 3.2.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&RdmaTransport::m_cnpInterval),
                          MakeDurationChecker(ns3::Time(0)))
            .AddAttribute("Retransmission",
                          "What is done about lost packets; `retransmission` of the transport.",
                          EnumValue(NEVER_LOST),
                          MakeEnumAccessor(&RdmaTransport::m_retransmission),
                          MakeEnumChecker(NEVER_LOST,
                                          "never-lost",
                                          GO_BACK_N,
                                          "go-back-n",
                                          SELECTIVE_REPEAT,
                                          "selective-repeat"))
            .AddAttribute("AckTimeout",
                          "Without progress for so long, a queue pair sends again. 4.096 us x "
                          "2^20 = 4.29 s: InfiniBand's formula with NCCL's default exponent "
                          "(NCCL_IB_TIMEOUT).",
                          TimeValue(NanoSeconds(int64_t{4096} << 20)),
                          MakeTimeAccessor(&RdmaTransport::m_ackTimeout),
                          MakeDurationChecker(NanoSeconds(1)))
            .AddAttribute("RetryCount",
                          "Timeouts without progress that a queue pair survives. 7: NCCL's default "
                          "(NCCL_IB_RETRY_CNT).",
                          UintegerValue(7),
                          MakeUintegerAccessor(&RdmaTransport::m_retryCount),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("NackInterval",
                          "Least time after which the same missing packet is asked for again. "
                          "500 us: the NIC of the HPCC simulations.",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&RdmaTransport::m_nackInterval),
                          MakeDurationChecker(ns3::Time(0)))
            .AddAttribute("Reordering",
                          "Packets of a queue pair may overtake each other: receivers put them in "
                          "order. From `routing` of the fabric.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RdmaTransport::m_reordering),
                          MakeBooleanChecker())
            .AddAttribute("ReorderTime",
                          "With Reordering: a packet that was overtaken so long ago counts as "
                          "lost. 100 us: above the difference of ways under load, a choice.",
                          TimeValue(MicroSeconds(100)),
                          MakeTimeAccessor(&RdmaTransport::m_reorderTime),
                          MakeDurationChecker(ns3::Time(0)))
            .AddAttribute("CongestionControl",
                          "What sets the rate of queue pairs; `congestion_control` of the "
                          "transport.",
                          PointerValue(),
                          MakePointerAccessor(&RdmaTransport::m_congestionControl),
                          MakePointerChecker<CongestionControl>());
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
