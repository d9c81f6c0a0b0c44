// What ns-3 asks of its simulator besides running: the events of Simulator::Schedule, the clock and
// the end.
#include "ns3-backend/model/simulator/windowed-simulator-impl.h"

#include "core/base/check.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

namespace ns3::rdma
{

void
WindowedSimulatorImpl::Stop()
{
    if (t_worker != nullptr)
    {
        t_worker->context.stop = true;
    }
    else
    {
        m_stop = true;
    }
}

void
WindowedSimulatorImpl::Stop(const Time& delay)
{
    Simulator::Schedule(delay, &Simulator::Stop);
}

EventId
WindowedSimulatorImpl::Schedule(const Time& delay, EventImpl* event)
{
    CHECK_NOTE(t_worker == nullptr, "Simulator::Schedule is not for the events of partitions");
    return m_control.Insert(m_control.Now() + delay.GetTimeStep(), GetContext(), event);
}

void
WindowedSimulatorImpl::ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event)
{
    CHECK_NOTE(t_worker == nullptr, "Simulator::Schedule is not for the events of partitions");
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
    CHECK_NOTE(t_worker == nullptr, "Simulator::Schedule is not for the events of partitions");
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
    return TimeStep(t_partition != nullptr ? t_partition->LocalTime() : m_control.Now());
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
    return m_process;
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
    return m_windows;
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
    m_workers.clear();
    m_layers.clear();
    SimulatorImpl::DoDispose();
}

bool
WindowedSimulatorImpl::IsFinished() const
{
    return StopRequested() || (Earliest() == NEVER && m_control.NextTime() == NEVER);
}

} // namespace ns3::rdma
