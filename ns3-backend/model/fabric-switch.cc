#include "ns3-backend/model/fabric-switch.h"

#include "core/base/check.h"

#include "ns3/uinteger.h"

#include <algorithm>

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
            .AddAttribute("Buffer",
                          "Bytes that all ports share; from `buffer` of the switch in the cluster "
                          "file. 0: not given, nothing is counted as over it.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FabricSwitch::m_bufferSize),
                          MakeUintegerChecker<uint64_t>());
    return tid;
}

void
FabricSwitch::Configure(FabricMap* map)
{
    m_index = m_node - map->GetNHosts();
    if (m_seed != 0)
    {
        map->SetSeed(m_index, m_seed);
    }
    m_queues.resize(GetNPorts());
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
FabricSwitch::Arrive(uint16_t, const Frame& frame)
{
    const uint16_t port = m_map->NextPort(m_index, frame.to, frame.path);
    Egress& egress = m_egress[port];
    if (!egress.pending && m_now >= egress.freeAt)
    {
        Transmit(egress, frame);
        return;
    }
    Enqueue(port, frame);
    if (!egress.pending)
    {
        Await(egress, port);
    }
}

void
FabricSwitch::Enqueue(uint16_t port, const Frame& frame)
{
    const uint32_t slot = Allocate();
    m_pool[slot] = Slot{frame, NONE};
    Queue& queue = m_queues[port];
    if (queue.head == NONE)
    {
        queue.head = slot;
    }
    else
    {
        m_pool[queue.tail].next = slot;
    }
    queue.tail = slot;
    queue.bytes += SizeOf(frame);
    m_bufferBytes += SizeOf(frame);
    m_maxQueueBytes = std::max(m_maxQueueBytes, queue.bytes);
    m_maxBufferBytes = std::max(m_maxBufferBytes, m_bufferBytes);
    m_framesOverBuffer +=
        m_bufferSize != 0 && m_bufferBytes > static_cast<int64_t>(m_bufferSize) ? 1 : 0;
}

bool
FabricSwitch::Next(uint16_t port, Frame* frame)
{
    Queue& queue = m_queues[port];
    if (queue.head == NONE)
    {
        return false;
    }
    Slot& slot = m_pool[queue.head];
    const uint32_t freed = queue.head;
    *frame = slot.frame;
    queue.head = slot.next;
    queue.bytes -= SizeOf(*frame);
    m_bufferBytes -= SizeOf(*frame);
    slot.next = m_free;
    m_free = freed;
    return true;
}

void
FabricSwitch::Ready(uint32_t)
{
    CHECK_NOTE(false, "a switch has no queue pairs");
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
