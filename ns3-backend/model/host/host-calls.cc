#include "ns3-backend/model/host/host-calls.h"

#include <algorithm>
#include <tuple>

namespace ns3::rdma
{
namespace
{

/// The order of a standard heap whose top is the earliest call.
bool
Later(const HostCalls::Call& a, const HostCalls::Call& b)
{
    return std::tie(a.time, a.kind, a.source, a.id) > std::tie(b.time, b.kind, b.source, b.id);
}

} // namespace

void
HostCalls::SetTimer(int64_t time, drydock::TimerId id)
{
    const auto [it, added] = m_timers.insert_or_assign(id, time);
    Push(Call{time, TIMER, 0, id, 0});
    if (!added)
    {
        DropStale();
    }
}

void
HostCalls::Add(Kind kind, int64_t time, const drydock::Message& message)
{
    uint32_t slot = static_cast<uint32_t>(m_messages.size());
    if (m_freeSlots.empty())
    {
        m_messages.push_back(message);
    }
    else
    {
        slot = m_freeSlots.back();
        m_freeSlots.pop_back();
        m_messages[slot] = message;
    }
    Push(Call{time, kind, message.source, message.id, slot});
}

HostCalls::Call
HostCalls::Pop(drydock::Message* message)
{
    const Call call = PopTop();
    if (call.kind == TIMER)
    {
        m_timers.erase(call.id);
    }
    else
    {
        *message = m_messages[call.slot];
        m_freeSlots.push_back(call.slot);
    }
    DropStale();
    return call;
}

void
HostCalls::Push(const Call& call)
{
    m_heap.push_back(call);
    std::push_heap(m_heap.begin(), m_heap.end(), Later);
}

HostCalls::Call
HostCalls::PopTop()
{
    std::pop_heap(m_heap.begin(), m_heap.end(), Later);
    const Call call = m_heap.back();
    m_heap.pop_back();
    return call;
}

void
HostCalls::DropStale()
{
    while (!m_heap.empty() && m_heap.front().kind == TIMER)
    {
        const auto it = m_timers.find(m_heap.front().id);
        if (it != m_timers.end() && it->second == m_heap.front().time)
        {
            return;
        }
        PopTop();
    }
}

} // namespace ns3::rdma
