#include "ns3-backend/model/simulator/control-events.h"

#include "ns3-backend/model/wire/frame.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::rdma
{

ControlEvents::~ControlEvents()
{
    Clear();
}

EventId
ControlEvents::Insert(uint64_t time, uint32_t context, EventImpl* event)
{
    const uint32_t uid = m_uid++;
    m_events.emplace(Key{time, uid}, Pending{context, event});
    return EventId(event, time, context, uid);
}

EventId
ControlEvents::InsertDestroy(EventImpl* event)
{
    EventId id(Ptr<EventImpl>(event, false), m_now, Simulator::NO_CONTEXT, EventId::UID::DESTROY);
    m_destroy.push_back(id);
    return id;
}

void
ControlEvents::Remove(const EventId& id)
{
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        m_destroy.remove(id);
        return;
    }
    const auto it = m_events.find({id.GetTs(), id.GetUid()});
    if (it != m_events.end())
    {
        it->second.event->Cancel();
        it->second.event->Unref();
        m_events.erase(it);
    }
}

bool
ControlEvents::IsExpired(const EventId& id) const
{
    if (id.PeekEventImpl() == nullptr || id.PeekEventImpl()->IsCancelled())
    {
        return true;
    }
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        return std::find(m_destroy.begin(), m_destroy.end(), id) == m_destroy.end();
    }
    return m_events.find({id.GetTs(), id.GetUid()}) == m_events.end();
}

int64_t
ControlEvents::NextTime() const
{
    return m_events.empty() ? NEVER : static_cast<int64_t>(m_events.begin()->first.first);
}

void
ControlEvents::RunNextTime()
{
    m_now = m_events.begin()->first.first;
    while (!m_events.empty() && m_events.begin()->first.first == m_now)
    {
        const Pending next = m_events.begin()->second;
        m_events.erase(m_events.begin());
        m_context = next.context;
        ++m_count;
        next.event->Invoke(); // does nothing if it was cancelled
        next.event->Unref();
    }
    m_context = Simulator::NO_CONTEXT;
}

void
ControlEvents::RunDestroy()
{
    while (!m_destroy.empty())
    {
        const Ptr<EventImpl> event = m_destroy.front().PeekEventImpl();
        m_destroy.pop_front();
        if (!event->IsCancelled())
        {
            event->Invoke();
        }
    }
}

void
ControlEvents::Clear()
{
    for (auto& [key, pending] : m_events)
    {
        pending.event->Unref();
    }
    m_events.clear();
}

void
ControlEvents::AdvanceTo(int64_t time)
{
    m_now = std::max(m_now, static_cast<uint64_t>(time));
}

} // namespace ns3::rdma
