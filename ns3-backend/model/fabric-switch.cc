#include "ns3-backend/model/fabric-switch.h"

#include "core/base/check.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/integer.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <bit>
#include <cmath>

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
                          "from the index of the switch, so that no two switches choose alike.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FabricSwitch::m_seed),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("CutThrough",
                          "A frame is passed on when so many bytes of it are there; where the "
                          "output is faster than the input, so that its last bits leave as they "
                          "come. 0: store and forward, when all is there.",
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
                          MakeTimeChecker(ns3::Time(0)))
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
                          MakeEnumChecker(IDEAL, "ideal", PFC, "pfc", LOSSY, "none"))
            .AddAttribute("LosslessClasses",
                          "Classes that PFC protects, one bit each: those of data and "
                          "acknowledgements.",
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
                          "Mark what waits in long queues; on with a congestion control that "
                          "looks at marks.",
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
            .AddAttribute("EcnAtDequeue",
                          "Mark by the queue that a frame leaves behind, not by the one it joins.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FabricSwitch::m_ecnAtDequeue),
                          MakeBooleanChecker());
    return tid;
}

void
FabricSwitch::Configure(FabricMap* map, int64_t largestFrame)
{
    m_index = m_node - map->GetNHosts();
    if (m_seed != 0)
    {
        map->SetSeed(m_index, m_seed);
    }
    m_chooser.Configure(map, m_index, m_routing, m_flowletGap.GetTimeStep(), m_flowletTableBits);
    m_ports.resize(GetNPorts());
    m_queues.resize(size_t{GetNPorts()} * CLASSES);
    std::vector<int64_t> headroom;
    for (uint16_t port = 0; port < GetNPorts(); ++port)
    {
        const uint32_t link = map->GetPorts(m_node)[port];
        headroom.push_back(HeadroomOf(map->GetDirection(link ^ 1),
                                      map->GetDirection(link),
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
    // The frame that crosses the threshold is whole in the buffer. Then: a frame that is being sent
    // back holds up the PAUSE, which takes its time; the other end may just have begun a frame;
    // and what was sent before the PAUSE got there is still on the way.
    const int64_t until = out.Occupancy(largestFrame) + out.Occupancy(pauseFrame) + out.delay +
                          in.Occupancy(largestFrame) + in.delay;
    const int64_t unit = in.Occupancy(largestFrame);
    return largestFrame + (until + unit - 1) / unit * largestFrame;
}

void
FabricSwitch::ConfigureMarkers()
{
    constexpr double reference = 25e9;
    for (uint16_t port = 0; port < GetNPorts(); ++port)
    {
        const double scale =
            static_cast<double>(m_egress[port].direction->rate.bits_per_second()) / reference;
        const auto bytes = [scale](uint64_t at25) {
            return static_cast<int64_t>(std::llround(scale * static_cast<double>(at25)));
        };
        const uint64_t seed = uint64_t{m_map->GetSeed(m_index)} << 32 | port;
        m_ports[port].marker.Configure(bytes(m_ecnMin), bytes(m_ecnMax), m_ecnMost, seed);
    }
}

uint64_t
FabricSwitch::Process(int64_t limit)
{
    const uint64_t before = GetEventCount();
    while (!m_events.Empty() && m_events.Top().time < limit)
    {
        RunEvent(*this);
    }
    return GetEventCount() - before;
}

int64_t
FabricSwitch::NextTime() const
{
    return m_events.Empty() ? NEVER : m_events.Top().time;
}

void
FabricSwitch::Arrive(uint16_t inPort, Frame& frame)
{
    if (m_cutThrough > 0) [[unlikely]]
    {
        // This is when its head is here; the rest follows at the rate of the cable.
        const Egress& back = m_egress[inPort];
        const int64_t whole = back.Occupancy(SizeOf(frame));
        frame.time = m_now + whole - std::min(whole, back.Occupancy(m_cutThrough));
    }
    if (frame.flags & Frame::PAUSE) [[unlikely]]
    {
        ArrivePause(*this, inPort, frame);
        return;
    }
    const std::span<const uint16_t> ports = m_map->GetNextPorts(m_index, frame.to);
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
    Queue& queue = QueueOf(port, frame.priority);
    if (!m_buffer.Admits(frame.priority, queue.bytes, size))
    {
        ++m_ports[port].counts.dropped;
        return;
    }
    const uint32_t slot = Allocate();
    m_pool[slot] = Slot{frame, NONE, inPort};
    if (frame.flags & Frame::INT) [[unlikely]]
    {
        m_poolTelemetry.resize(std::max(m_poolTelemetry.size(), size_t{slot} + 1));
        m_poolTelemetry[slot] = m_carried;
    }
    if (queue.head == NONE)
    {
        queue.head = slot;
    }
    else
    {
        m_pool[queue.tail].next = slot;
    }
    queue.tail = slot;
    queue.bytes += size;
    Port& out = m_ports[port];
    out.classes |= ClassBit(frame.priority);
    out.counts.queued += size;
    out.counts.mostQueued = std::max(out.counts.mostQueued, out.counts.queued);
    if (m_ecn && !m_ecnAtDequeue)
    {
        Mark(port, queue.bytes, m_pool[slot].frame);
    }
    m_buffer.Add(inPort, frame.priority, size);
    if (m_buffer.IsLossless(frame.priority) && m_buffer.MustPause(inPort, frame.priority))
    {
        Stop(inPort, frame.priority);
    }
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
    const auto ready = static_cast<uint8_t>(out.classes & ~m_egress[port].paused);
    if (ready == 0)
    {
        return false;
    }
    const auto priority = static_cast<uint8_t>(std::bit_width(ready) - 1);
    const Slot slot = Dequeue(port, priority);
    *frame = slot.frame;
    Observe(port, *frame);
    if (m_ecn && m_ecnAtDequeue)
    {
        Mark(port, QueueOf(port, priority).bytes, *frame);
    }
    if ((m_ports[slot.inPort].stopping & ClassBit(priority)) &&
        m_buffer.MayResume(slot.inPort, priority))
    {
        Resume(slot.inPort, priority);
    }
    return true;
}

FabricSwitch::Slot
FabricSwitch::Dequeue(uint16_t port, uint8_t priority)
{
    Queue& queue = QueueOf(port, priority);
    const uint32_t freed = queue.head;
    const Slot slot = m_pool[freed];
    const int64_t size = SizeOf(slot.frame);
    queue.head = slot.next;
    queue.bytes -= size;
    Port& out = m_ports[port];
    out.counts.queued -= size;
    if (queue.head == NONE)
    {
        out.classes &= static_cast<uint8_t>(~ClassBit(priority));
    }
    m_buffer.Remove(slot.inPort, priority, size);
    if (slot.frame.flags & Frame::INT) [[unlikely]]
    {
        m_carried = m_poolTelemetry[freed];
    }
    m_pool[freed].next = m_free;
    m_free = freed;
    return slot;
}

void
FabricSwitch::Observe(uint16_t port, const Frame& frame)
{
    if (!(frame.flags & Frame::INT) || frame.IsControl()) [[likely]]
    {
        return; // an acknowledgement carries home what its packet met
    }
    const Egress& egress = m_egress[port];
    m_carried.Add({m_map->GetPorts(m_node)[port],
                   m_now,
                   egress.bytes,
                   m_ports[port].counts.queued,
                   egress.direction->rate.bits_per_second()});
}

void
FabricSwitch::Mark(uint16_t port, int64_t queued, Frame& frame)
{
    // Only a frame of data tells its receiver something.
    if (!frame.IsControl() && m_ports[port].marker.Marks(queued))
    {
        frame.flags |= Frame::CE;
        ++m_ports[port].counts.marked;
    }
}

void
FabricSwitch::Stop(uint16_t inPort, uint8_t priority)
{
    Port& port = m_ports[inPort];
    if (port.stopping & ClassBit(priority))
    {
        return;
    }
    if (!port.renewing)
    {
        port.renewing = true;
        m_events.Push({m_now + RenewalInterval(inPort), KeyOf(PAUSE_RENEW, inPort)});
    }
    port.stopping |= ClassBit(priority);
    SendPause(inPort, priority, PauseTable::LONGEST);
}

void
FabricSwitch::Resume(uint16_t inPort, uint8_t priority)
{
    m_ports[inPort].stopping &= static_cast<uint8_t>(~ClassBit(priority));
    SendPause(inPort, priority, 0);
}

void
FabricSwitch::RenewPauses(uint16_t inPort)
{
    Port& port = m_ports[inPort];
    for (uint8_t priority = 0; priority < CLASSES; ++priority)
    {
        if (port.stopping & ClassBit(priority))
        {
            SendPause(inPort, priority, PauseTable::LONGEST);
        }
    }
    port.renewing = port.stopping != 0;
    if (port.renewing)
    {
        m_events.Push({m_now + RenewalInterval(inPort), KeyOf(PAUSE_RENEW, inPort)});
    }
}

int64_t
FabricSwitch::RenewalInterval(uint16_t port) const
{
    // Half of what one asks for, so that it never runs out on its way.
    return m_egress[port].Occupancy(PauseTable::LONGEST * PauseTable::QUANTUM_BYTES) / 2;
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
    Kick(*this, port);
}

void
FabricSwitch::Timer(Kind kind, uint32_t number)
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

uint32_t
FabricSwitch::Allocate()
{
    if (m_free == NONE)
    {
        m_pool.emplace_back();
        return static_cast<uint32_t>(m_pool.size() - 1);
    }
    const uint32_t slot = m_free;
    m_free = m_pool[slot].next;
    return slot;
}

} // namespace ns3::rdma
