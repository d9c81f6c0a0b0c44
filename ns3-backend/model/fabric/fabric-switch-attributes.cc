// What a cluster file, or ns-3, may set of a switch.
#include "ns3-backend/model/fabric/fabric-switch.h"

#include "ns3-backend/model/wire/duration-checker.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/integer.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(FabricSwitch);

TypeId
FabricSwitch::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::FabricSwitch")
            .SetParent<FabricNode>()
            .SetGroupName("Drydock")
            .AddConstructor<FabricSwitch>()
            .AddAttribute("EcmpSeed",
                          "Seed of the hash that chooses among equally short ways. 0 derives one "
                          "from the index of the switch, so that no two switches choose alike, as "
                          "operators set them up. A choice.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FabricSwitch::m_seed),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("CutThrough",
                          "A frame is passed on when so many bytes of it are there; where the "
                          "output is faster than the input, so that its last bits leave as they "
                          "come. 0: store and forward, when all is there, a choice.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FabricSwitch::m_cutThrough),
                          MakeUintegerChecker<uint32_t>(0, 65535))
            .AddAttribute("Routing",
                          "How one of equally short ways is chosen; `routing` of the fabric.",
                          EnumValue(ECMP),
                          MakeEnumAccessor(&FabricSwitch::m_routing),
                          MakeEnumChecker(ECMP,
                                          "ecmp",
                                          FLOWLET,
                                          "flowlet",
                                          ADAPTIVE,
                                          "adaptive",
                                          SPRAY,
                                          "spray"))
            .AddAttribute("FlowletGap",
                          "A queue pair that was quiet for longer may change its way. 50 us: above "
                          "the time by which ways of a data centre differ under load, below the "
                          "500 us of LetFlow (NSDI 2017), which is for TCP. A choice.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&FabricSwitch::m_flowletGap),
                          MakeDurationChecker(ns3::Time(0)))
            .AddAttribute("FlowletTableBits",
                          "A switch tells 2 to the power of this flowlets apart. 16: the 64K "
                          "entries of CONGA (SIGCOMM 2014).",
                          UintegerValue(16),
                          MakeUintegerAccessor(&FabricSwitch::m_flowletTableBits),
                          MakeUintegerChecker<uint32_t>(0, 24))
            .AddAttribute("Buffer",
                          "Bytes that all ports share; from `buffer` of the switch in the cluster "
                          "file. 0: not given, nothing is counted as over it.",
                          IntegerValue(0),
                          MakeIntegerAccessor(&FabricSwitch::m_size),
                          MakeIntegerChecker<int64_t>(0))
            .AddAttribute("FlowControl",
                          "What happens when the buffer fills up: `flow_control` of the transport.",
                          EnumValue(IDEAL),
                          MakeEnumAccessor(&FabricSwitch::m_flowControl),
                          MakeEnumChecker(IDEAL, "ideal", PFC, "pfc", LOSSY, "none", TRIM, "trim"))
            .AddAttribute("TrimPriority",
                          "Traffic class of headers whose payload was cut off (flow control "
                          "trim). 6: above the data, with the notifications; that headers go "
                          "first is what trimming lives by (Handley et al., NDP, SIGCOMM 2017, 3).",
                          UintegerValue(6),
                          MakeUintegerAccessor(&FabricSwitch::m_trimPriority),
                          MakeUintegerChecker<uint8_t>(0, CLASSES - 1))
            .AddAttribute(
                "LosslessClasses",
                "Bits for the traffic classes that PFC protects (IEEE 802.1Qbb): those of "
                "data and acknowledgements.",
                UintegerValue(1U << 3),
                MakeUintegerAccessor(&FabricSwitch::m_lossless),
                MakeUintegerChecker<uint8_t>())
            .AddAttribute("PauseAlpha",
                          "A port of entry is paused when it holds more than this times what is "
                          "free. 1/8: the switch of the HPCC simulations (SIGCOMM 2019, 5.1).",
                          DoubleValue(0.125),
                          MakeDoubleAccessor(&FabricSwitch::m_pauseAlpha),
                          MakeDoubleChecker<double>(0.0, 1e6))
            .AddAttribute("ResumeOffset",
                          "A paused port goes on when it is this many bytes below its share. 3 KB: "
                          "the switch of the HPCC simulations.",
                          IntegerValue(3000),
                          MakeIntegerAccessor(&FabricSwitch::m_resumeOffset),
                          MakeIntegerChecker<int64_t>(0))
            .AddAttribute("DropAlpha",
                          "A queue of a class that is not lossless holds at most this times what "
                          "is free. 1: Choudhury and Hahne (ToN 1998).",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&FabricSwitch::m_dropAlpha),
                          MakeDoubleChecker<double>(0.0, 1e6))
            .AddAttribute("Ecn",
                          "Mark what waits in long queues; on where the `congestion_control` of "
                          "the transport looks at marks.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FabricSwitch::m_ecn),
                          MakeBooleanChecker())
            .AddAttribute("EcnMin",
                          "Bytes in a queue of a 25 Gb/s port up to which nothing is marked; in "
                          "proportion for other rates. 100 KB: HPCC (SIGCOMM 2019, 5.1).",
                          UintegerValue(100'000),
                          MakeUintegerAccessor(&FabricSwitch::m_ecnMin),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("EcnMax",
                          "Bytes in a queue of a 25 Gb/s port above which everything is marked; "
                          "in proportion for other rates. 400 KB: HPCC (SIGCOMM 2019, 5.1). Equal "
                          "to EcnMin it is a step.",
                          UintegerValue(400'000),
                          MakeUintegerAccessor(&FabricSwitch::m_ecnMax),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("EcnProbability",
                          "Of a mark at EcnMax; it grows from 0 at EcnMin. 0.2: HPCC (SIGCOMM "
                          "2019, 5.1).",
                          DoubleValue(0.2),
                          MakeDoubleAccessor(&FabricSwitch::m_ecnMost),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute(
                "EcnAtDequeue",
                "Mark by the queue that a frame leaves behind, not by the one it joins. "
                "false: what arrives is marked, as RED does (Floyd and Jacobson, ToN 1993).",
                BooleanValue(false),
                MakeBooleanAccessor(&FabricSwitch::m_ecnAtDequeue),
                MakeBooleanChecker())
            .AddTraceSource("Drop",
                            "A frame finds no room: the frame, the port it was to leave by, the "
                            "time in picoseconds.",
                            MakeTraceSourceAccessor(&FabricSwitch::m_dropTrace),
                            "ns3::rdma::FabricSwitch::FrameTracedCallback")
            .AddTraceSource("Trim",
                            "A frame loses its payload: likewise, the frame as it came.",
                            MakeTraceSourceAccessor(&FabricSwitch::m_trimTrace),
                            "ns3::rdma::FabricSwitch::FrameTracedCallback")
            .AddTraceSource("Mark",
                            "A frame is marked (ECN): likewise, the frame with its mark.",
                            MakeTraceSourceAccessor(&FabricSwitch::m_markTrace),
                            "ns3::rdma::FabricSwitch::FrameTracedCallback")
            .AddTraceSource("Pause",
                            "The other end of a port is told to stop a class, or to go on: the "
                            "PAUSE frame (psn: for how many quanta), the port, the time.",
                            MakeTraceSourceAccessor(&FabricSwitch::m_pauseTrace),
                            "ns3::rdma::FabricSwitch::FrameTracedCallback");
    return tid;
}

} // namespace ns3::rdma
