#include "ns3-backend/model/fabric/fabric-switch.h"

#include "ns3-backend/model/attributes/reference-rate.h"

#include "core/base/check.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/integer.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(FabricSwitch);

TypeId
FabricSwitch::GetTypeId()
{
    static TypeId tid = AddTransportAttributes(
        TypeId("ns3::rdma::FabricSwitch")
            .SetParent<FabricNode>()
            .SetGroupName("Drydock")
            .AddConstructor<FabricSwitch>()
            .AddAttribute("Routing",
                          "How the switch chooses one of several equally short paths; `routing` of "
                          "the fabric.",
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
            .AddAttribute("Buffer",
                          "Bytes that all ports share; `buffer` of the switch in the cluster file. "
                          "0: unknown, and no frame counts as over the buffer.",
                          IntegerValue(0),
                          MakeIntegerAccessor(&FabricSwitch::m_size),
                          MakeIntegerChecker<int64_t>(0))
            .AddAttribute("FlowControl",
                          "What happens when the buffer fills up; `flow_control` of the transport.",
                          EnumValue(IDEAL),
                          MakeEnumAccessor(&FabricSwitch::m_flowControl),
                          MakeEnumChecker(IDEAL, "ideal", PFC, "pfc", LOSSY, "none", TRIM, "trim"))
            .AddAttribute("LosslessClasses",
                          "One bit for each traffic class that PFC protects (IEEE 802.1Qbb): the "
                          "classes of data and acknowledgements.",
                          UintegerValue(1U << 3),
                          MakeUintegerAccessor(&FabricSwitch::m_lossless),
                          MakeUintegerChecker<uint8_t>())
            .AddAttribute("Ecn",
                          "Whether packets in long queues are marked; on where the "
                          "`congestion_control` of the transport reads marks.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FabricSwitch::m_ecn),
                          MakeBooleanChecker())
            .AddTraceSource("Drop",
                            "A frame is dropped: the frame, the port it was to leave by, the time "
                            "in picoseconds.",
                            MakeTraceSourceAccessor(&FabricSwitch::m_dropTrace),
                            "ns3::rdma::FabricSwitch::FrameTracedCallback")
            .AddTraceSource("Trim",
                            "A frame loses its payload: the frame as it arrived, the port, the "
                            "time.",
                            MakeTraceSourceAccessor(&FabricSwitch::m_trimTrace),
                            "ns3::rdma::FabricSwitch::FrameTracedCallback")
            .AddTraceSource("Mark",
                            "A frame is marked (ECN): the frame with its mark, the port, the time.",
                            MakeTraceSourceAccessor(&FabricSwitch::m_markTrace),
                            "ns3::rdma::FabricSwitch::FrameTracedCallback")
            .AddTraceSource("Pause",
                            "The switch asks the peer of a port to pause a class or to resume: the "
                            "PAUSE frame (psn: the number of quanta), the port, the time.",
                            MakeTraceSourceAccessor(&FabricSwitch::m_pauseTrace),
                            "ns3::rdma::FabricSwitch::FrameTracedCallback"),
        {{"EcmpSeed", MakeUintegerAccessor(&FabricSwitch::m_seed)},
         {"CutThrough", MakeUintegerAccessor(&FabricSwitch::m_cutThrough)},
         {"FlowletGap", MakeTimeAccessor(&FabricSwitch::m_flowletGap)},
         {"FlowletTableBits", MakeUintegerAccessor(&FabricSwitch::m_flowletTableBits)},
         {"TrimPriority", MakeUintegerAccessor(&FabricSwitch::m_trimPriority)},
         {"PauseAlpha", MakeDoubleAccessor(&FabricSwitch::m_pauseAlpha)},
         {"ResumeOffset", MakeIntegerAccessor(&FabricSwitch::m_resumeOffset)},
         {"DropAlpha", MakeDoubleAccessor(&FabricSwitch::m_dropAlpha)},
         {"EcnMin", MakeUintegerAccessor(&FabricSwitch::m_ecnMin)},
         {"EcnMax", MakeUintegerAccessor(&FabricSwitch::m_ecnMax)},
         {"EcnProbability", MakeDoubleAccessor(&FabricSwitch::m_ecnProbability)},
         {"EcnAtDequeue", MakeBooleanAccessor(&FabricSwitch::m_ecnAtDequeue)}});
    return tid;
}

void
FabricSwitch::Configure(FabricMap* map, int64_t largestFrame)
{
    m_index = m_node - map->host_count();
    if (m_seed != 0)
    {
        map->SetSeed(m_index, m_seed);
    }
    m_chooser.Configure(map, m_index, m_routing, m_flowletGap.GetTimeStep(), m_flowletTableBits);
    m_ports.resize(GetNPorts());
    m_queues.Configure(GetNPorts());
    m_scheduler = MakeScheduler(largestFrame);
    std::vector<int64_t> headroom;
    for (uint16_t port = 0; port < GetNPorts(); ++port)
    {
        const uint32_t link = map->ports_of(m_node)[port];
        headroom.push_back(HeadroomOf(map->direction(link ^ 1),
                                      map->direction(link),
                                      largestFrame,
                                      SizeOf(PauseFrame(0, 0))));
    }
    m_buffer.Configure(
        {m_flowControl, m_size, m_pauseAlpha, m_dropAlpha, m_resumeOffset, m_lossless},
        std::move(headroom));
    if (m_ecn)
    {
        ConfigureMarkers();
    }
}

int64_t
FabricSwitch::HeadroomOf(const FabricDirection& in,
                         const FabricDirection& out,
                         int64_t largestFrame,
                         int64_t pauseFrame)
{
    // The frame that crosses the threshold is whole in the buffer. Until the pause takes effect:
    // the PAUSE waits for the frame that is being sent back, is sent and travels to the peer; the
    // peer may just have begun a frame; and the frames sent before the PAUSE arrived are still in
    // flight.
    const int64_t until = out.Occupancy(largestFrame) + out.Occupancy(pauseFrame) + out.delay +
                          in.Occupancy(largestFrame) + in.delay;
    const int64_t unit = in.Occupancy(largestFrame);
    return largestFrame + (until + unit - 1) / unit * largestFrame;
}

void
FabricSwitch::ConfigureMarkers()
{
    for (uint16_t port = 0; port < GetNPorts(); ++port)
    {
        const double scale = ScaleFromReference(m_egress[port].direction->rate.bits_per_second());
        const auto bytes = [scale](uint64_t at25) {
            return static_cast<int64_t>(std::llround(scale * static_cast<double>(at25)));
        };
        const uint64_t seed = uint64_t{m_map->seed(m_index)} << 32 | port;
        m_ports[port].marker.Configure(bytes(m_ecnMin), bytes(m_ecnMax), m_ecnProbability, seed);
    }
}

uint64_t
FabricSwitch::Process(int64_t limit)
{
    const uint64_t before = GetEventCount();
    while (NextEvent() < limit)
    {
        RunEvent(*this);
    }
    return GetEventCount() - before;
}

int64_t
FabricSwitch::NextTime() const
{
    return NextEvent();
}

void
FabricSwitch::Arrive(uint16_t inPort, Frame& frame)
{
    if (m_cutThrough > 0) [[unlikely]]
    {
        // The head of the frame arrives now; the rest follows at the rate of the cable.
        const Egress& back = m_egress[inPort];
        const int64_t whole = back.Occupancy(SizeOf(frame));
        frame.time = m_now + whole - std::min(whole, back.Occupancy(m_cutThrough));
    }
    if (frame.flags & Frame::PAUSE) [[unlikely]]
    {
        ArrivePause(*this, inPort, frame);
        return;
    }
    const std::span<const uint16_t> ports = m_map->NextPorts(m_index, frame.to);
    if (ports.empty()) [[unlikely]]
    {
        ++m_counts.unroutable;
        return;
    }
    const uint16_t port = m_chooser.Choose(frame, ports, m_now, [this](uint16_t each) {
        const Egress& taken = m_egress[each];
        return std::max<int64_t>(0, taken.freeAt - m_now) +
               taken.Occupancy(m_ports[each].counts.queued);
    });
    Egress& egress = m_egress[port];
    if (!egress.pending && m_now >= egress.freeAt && !(egress.paused & ClassBit(frame.priority)))
    {
        Observe(port, frame);
        Transmit(egress, frame);
        return;
    }
    Enqueue(port, inPort, frame);
    if (!egress.pending && Waiting(port))
    {
        Await(egress, port);
    }
}

void
FabricSwitch::Enqueue(uint16_t port, uint16_t inPort, const Frame& frame)
{
    const int64_t size = SizeOf(frame);
    if (!m_buffer.Admits(frame.priority, m_queues.GetBytes(port, frame.priority), size))
    {
        Refuse(port, inPort, frame);
        return;
    }
    Frame& kept = m_queues.Push(port, inPort, frame, size, m_carried);
    Port& out = m_ports[port];
    out.counts.queued += size;
    out.counts.maxQueued = std::max(out.counts.maxQueued, out.counts.queued);
    if (m_ecn && !m_ecnAtDequeue)
    {
        Mark(port, m_queues.GetBytes(port, frame.priority), kept);
    }
    m_buffer.Add(inPort, frame.priority, size);
    if (m_buffer.IsLossless(frame.priority) && m_buffer.MustPause(inPort, frame.priority))
    {
        Pause(inPort, frame.priority);
    }
}

void
FabricSwitch::Refuse(uint16_t port, uint16_t inPort, const Frame& frame)
{
    if (m_flowControl != TRIM || frame.IsControl() || (frame.flags & Frame::TRIMMED))
    {
        ++m_ports[port].counts.dropped;
        m_dropTrace(frame, port, m_now);
        return;
    }
    ++m_ports[port].counts.trimmed;
    m_trimTrace(frame, port, m_now);
    Frame header = frame;
    header.payload = 0;
    header.flags |= Frame::TRIMMED;
    header.priority = m_trimPriority;
    Enqueue(port, inPort, header);
}

bool
FabricSwitch::Next(uint16_t port, Frame* frame)
{
    Port& out = m_ports[port];
    if (!out.pauses.Empty())
    {
        *frame = out.pauses.Front();
        out.pauses.Pop();
        return true;
    }
    const auto ready = static_cast<uint8_t>(m_queues.GetClasses(port) & ~m_egress[port].paused);
    if (ready == 0)
    {
        return false;
    }
    const uint8_t priority = m_scheduler.Pick(port, ready);
    const uint16_t inPort = Dequeue(port, priority, frame);
    Observe(port, *frame);
    if (m_ecn && m_ecnAtDequeue)
    {
        Mark(port, m_queues.GetBytes(port, priority), *frame);
    }
    if ((m_ports[inPort].pausing & ClassBit(priority)) && m_buffer.MayResume(inPort, priority))
    {
        Resume(inPort, priority);
    }
    return true;
}

uint16_t
FabricSwitch::Dequeue(uint16_t port, uint8_t priority, Frame* frame)
{
    const int64_t size = SizeOf(m_queues.Head(port, priority));
    const uint16_t inPort = m_queues.Pop(port, priority, size, frame, &m_carried);
    m_ports[port].counts.queued -= size;
    m_buffer.Remove(inPort, priority, size);
    m_scheduler.Charge(port, priority, size);
    return inPort;
}

void
FabricSwitch::Observe(uint16_t port, const Frame& frame)
{
    if (!(frame.flags & Frame::INT) || frame.IsControl()) [[likely]]
    {
        return; // an acknowledgement returns the telemetry of its packet
    }
    const Egress& egress = m_egress[port];
    m_carried.Add({m_map->ports_of(m_node)[port],
                   m_now,
                   egress.bytes,
                   m_ports[port].counts.queued,
                   egress.direction->rate.bits_per_second()});
}

void
FabricSwitch::Mark(uint16_t port, int64_t queued, Frame& frame)
{
    // Receivers read the mark of data only.
    if (!frame.IsControl() && m_ports[port].marker.Marks(queued))
    {
        frame.flags |= Frame::CE;
        ++m_ports[port].counts.marked;
        m_markTrace(frame, port, m_now);
    }
}

void
FabricSwitch::Pause(uint16_t inPort, uint8_t priority)
{
    Port& port = m_ports[inPort];
    if (port.pausing & ClassBit(priority))
    {
        return;
    }
    if (!port.renewing)
    {
        port.renewing = true;
        SetTimer(m_now + RenewalInterval(inPort), PAUSE_RENEW, inPort);
    }
    port.pausing |= ClassBit(priority);
    SendPause(inPort, priority, PauseTable::MAX_QUANTA);
}

void
FabricSwitch::Resume(uint16_t inPort, uint8_t priority)
{
    m_ports[inPort].pausing &= static_cast<uint8_t>(~ClassBit(priority));
    SendPause(inPort, priority, 0);
}

void
FabricSwitch::RenewPauses(uint16_t inPort)
{
    Port& port = m_ports[inPort];
    for (uint8_t priority = 0; priority < CLASSES; ++priority)
    {
        if (port.pausing & ClassBit(priority))
        {
            SendPause(inPort, priority, PauseTable::MAX_QUANTA);
        }
    }
    port.renewing = port.pausing != 0;
    if (port.renewing)
    {
        SetTimer(m_now + RenewalInterval(inPort), PAUSE_RENEW, inPort);
    }
}

int64_t
FabricSwitch::RenewalInterval(uint16_t port) const
{
    // Half of the pause that one PAUSE requests, so that it is renewed in time.
    return m_egress[port].Occupancy(PauseTable::MAX_QUANTA * PauseTable::QUANTUM_BYTES) / 2;
}

Frame
FabricSwitch::PauseFrame(uint8_t priority, uint32_t quanta)
{
    Frame frame{};
    frame.flags = Frame::PAUSE;
    frame.priority = priority;
    frame.psn = quanta;
    return frame;
}

void
FabricSwitch::SendPause(uint16_t port, uint8_t priority, uint32_t quanta)
{
    ++(quanta > 0 ? m_counts.pauses : m_counts.resumes);
    m_ports[port].pauses.Push(PauseFrame(priority, quanta));
    m_pauseTrace(PauseFrame(priority, quanta), port, m_now);
    Kick(*this, port);
}

void
FabricSwitch::Timer(EventKind kind, uint32_t number)
{
    const auto port = static_cast<uint16_t>(number);
    if (kind == PAUSE_END)
    {
        EndPause(*this, port);
        return;
    }
    CHECK_NOTE(kind == PAUSE_RENEW, "a switch has no queue pairs");
    RenewPauses(port);
}

} // namespace ns3::rdma
