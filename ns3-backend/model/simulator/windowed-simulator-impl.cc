#include "ns3-backend/model/simulator/windowed-simulator-impl.h"

#include "core/base/check.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(WindowedSimulatorImpl);

TypeId
WindowedSimulatorImpl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::WindowedSimulatorImpl")
            .SetParent<SimulatorImpl>()
            .SetGroupName("Drydock")
            .AddConstructor<WindowedSimulatorImpl>()
            .AddAttribute(
                "Threads",
                "Number of threads that run the partitions. Changes the wall-clock time only, "
                "never a result.",
                UintegerValue(1),
                MakeUintegerAccessor(&WindowedSimulatorImpl::m_threads),
                MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("ShareAlways",
                          "All threads share every window, even where that is slower; for tests. "
                          "Changes the wall-clock time only.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&WindowedSimulatorImpl::m_shareAlways),
                          MakeBooleanChecker())
            .AddAttribute("Assignment",
                          "How partitions are distributed to threads: a contiguous share of each "
                          "layer, in turns, or whole layers. Changes the wall-clock time only.",
                          EnumValue(NEIGHBOURS),
                          MakeEnumAccessor(&WindowedSimulatorImpl::m_assignment),
                          MakeEnumChecker(NEIGHBOURS,
                                          "neighbours",
                                          IN_TURNS,
                                          "in-turns",
                                          BY_LAYER,
                                          "by-layer"))
            .AddAttribute("Lookahead",
                          "Length of a window: the minimum time between an event of a partition "
                          "and its effect on another. The fabric's smallest cable delay plus its "
                          "smallest frame time; a shorter time is correct but slower.",
                          TimeValue(PicoSeconds(1)),
                          MakeTimeAccessor(&WindowedSimulatorImpl::m_lookahead),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddTraceSource("Window",
                            "A window is about to run: its begin and end, in picoseconds.",
                            MakeTraceSourceAccessor(&WindowedSimulatorImpl::m_windowTrace),
                            "ns3::rdma::WindowedSimulatorImpl::WindowTracedCallback");
    return tid;
}

void
WindowedSimulatorImpl::AddPartition(Partition* partition, uint32_t layer)
{
    m_shares.Add(partition, layer);
}

void
WindowedSimulatorImpl::SetProcesses(drydock::Processes* processes)
{
    m_shares.SetProcesses(processes);
}

void
WindowedSimulatorImpl::AssignProcesses()
{
    m_shares.AssignProcesses(m_assignment);
}

void
WindowedSimulatorImpl::Run()
{
    AssignProcesses();
    m_loop.Run({m_threads, m_shareAlways, m_assignment, m_lookahead.GetTimeStep()}, m_shares);
}

void
WindowedSimulatorImpl::Stop()
{
    m_loop.Stop();
}

void
WindowedSimulatorImpl::Stop(const Time& delay)
{
    Simulator::Schedule(delay, &Simulator::Stop);
}

EventId
WindowedSimulatorImpl::Schedule(const Time& delay, EventImpl* event)
{
    CHECK_NOTE(!WindowLoop::InWindow(),
               "Simulator::Schedule must not be called from the events of partitions");
    return m_control.Insert(m_control.Now() + delay.GetTimeStep(), GetContext(), event);
}

void
WindowedSimulatorImpl::ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event)
{
    CHECK_NOTE(!WindowLoop::InWindow(),
               "Simulator::Schedule must not be called from the events of partitions");
    m_control.Insert(m_control.Now() + delay.GetTimeStep(), context, event);
}

EventId
WindowedSimulatorImpl::ScheduleNow(EventImpl* event)
{
    return Schedule(TimeStep(0), event);
}

EventId
WindowedSimulatorImpl::ScheduleDestroy(EventImpl* event)
{
    CHECK_NOTE(!WindowLoop::InWindow(),
               "Simulator::Schedule must not be called from the events of partitions");
    return m_control.InsertDestroy(event);
}

void
WindowedSimulatorImpl::Remove(const EventId& id)
{
    m_control.Remove(id);
}

void
WindowedSimulatorImpl::Cancel(const EventId& id)
{
    if (!IsExpired(id))
    {
        id.PeekEventImpl()->Cancel();
    }
}

bool
WindowedSimulatorImpl::IsExpired(const EventId& id) const
{
    return m_control.IsExpired(id);
}

Time
WindowedSimulatorImpl::Now() const
{
    const Partition* partition = WindowLoop::GetPartition();
    return TimeStep(partition != nullptr ? partition->LocalTime() : m_control.Now());
}

Time
WindowedSimulatorImpl::GetDelayLeft(const EventId& id) const
{
    return IsExpired(id) ? TimeStep(0) : TimeStep(id.GetTs()) - Now();
}

Time
WindowedSimulatorImpl::GetMaximumSimulationTime() const
{
    return TimeStep(NEVER);
}

void
WindowedSimulatorImpl::SetScheduler(ObjectFactory)
{
}

uint32_t
WindowedSimulatorImpl::GetSystemId() const
{
    return m_shares.GetProcess();
}

uint32_t
WindowedSimulatorImpl::GetContext() const
{
    return m_control.GetContext();
}

uint64_t
WindowedSimulatorImpl::GetEventCount() const
{
    return m_control.GetCount();
}

uint64_t
WindowedSimulatorImpl::GetWindowCount() const
{
    return m_loop.GetWindowCount();
}

void
WindowedSimulatorImpl::Destroy()
{
    m_control.RunDestroy();
}

void
WindowedSimulatorImpl::DoDispose()
{
    m_control.Clear();
    m_loop.Clear();
    SimulatorImpl::DoDispose();
}

bool
WindowedSimulatorImpl::IsFinished() const
{
    return m_loop.IsStopRequested() || (NextEventTime() == NEVER && m_control.NextTime() == NEVER);
}

} // namespace ns3::rdma
