#include "ns3-backend/model/rdma-host.h"

#include "core/base/check.h"

#include "ns3/double.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ns3::rdma
{

using drydock::Message;

NS_OBJECT_ENSURE_REGISTERED(RdmaHost);

namespace
{

/// What stands for the 5-tuple of the queue pair's IP packets.
uint32_t
PathHash(const Message& message)
{
    uint32_t hash = FabricMap::Mix(static_cast<uint32_t>(message.source) + 1);
    hash = FabricMap::Mix(hash ^ static_cast<uint32_t>(message.destination));
    hash = FabricMap::Mix(hash ^ (static_cast<uint32_t>(message.source_nic) << 16 |
                                  static_cast<uint16_t>(message.destination_nic)));
    return FabricMap::Mix(hash ^ message.flow);
}

} // namespace

AnnouncementBox::AnnouncementBox(RdmaHost* receiver)
    : Mailbox(receiver),
      m_host(receiver)
{
}

void
AnnouncementBox::Deliver()
{
    for (const Announcement& announcement : announcements)
    {
        m_host->Announce(announcement);
    }
    announcements.clear();
}

TypeId
RdmaHost::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::RdmaHost")
            .SetParent<FabricNode>()
            .SetGroupName("Drydock")
            .AddConstructor<RdmaHost>()
            .AddAttribute("Mtu",
                          "Payload of a full packet, bytes; `mtu` of the transport.",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&RdmaHost::m_mtu),
                          MakeUintegerChecker<uint32_t>(1, 65535))
            .AddAttribute("PacketsPerAck",
                          "A queue pair asks for an acknowledgement with every so many packets "
                          "(and with the last of a message, and when its window is full).",
                          UintegerValue(16),
                          MakeUintegerAccessor(&RdmaHost::m_packetsPerAck),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute(
                "WindowBdp",
                "Bytes a queue pair may have unacknowledged, in bandwidth-delay products "
                "of its own idle path; PacketsPerAck packets are added, for what "
                "coalescing holds back. HPCC (SIGCOMM 2019) starts a flow with "
                "one product in flight; the second leaves room for acknowledgements that queue "
                "behind data on their way back.",
                DoubleValue(2.0),
                MakeDoubleAccessor(&RdmaHost::m_windowBdp),
                MakeDoubleChecker<double>(0.0))
            .AddAttribute("NicLatency",
                          "From the host's memory to the wire, and from the wire to memory, "
                          "without serialisation; `latency` of the host's NICs.",
                          TimeValue(ns3::Time(0)),
                          MakeTimeAccessor(&RdmaHost::m_nicLatency),
                          MakeTimeChecker(ns3::Time(0)))
            .AddTraceSource("Delivered",
                            "A message is in the host's memory: the message, the time in "
                            "picoseconds. Its `sent` is when it was given to Send.",
                            MakeTraceSourceAccessor(&RdmaHost::m_deliveredTrace),
                            "ns3::rdma::RdmaHost::DeliveredTracedCallback");
    return tid;
}

size_t
RdmaHost::NameHash::operator()(const QueuePairName& name) const
{
    const uint32_t nics =
        static_cast<uint32_t>(name.sourceNic) << 16 | static_cast<uint16_t>(name.destinationNic);
    const uint32_t ends = FabricMap::Mix(static_cast<uint32_t>(name.destination)) ^ nics;
    return uint64_t{FabricMap::Mix(ends)} << 32 | FabricMap::Mix(name.flow ^ ends);
}

void
RdmaHost::Configure(drydock::HostId id, const std::vector<RdmaHost*>* hosts)
{
    m_id = id;
    m_hosts = hosts;
    m_latency = m_nicLatency.GetTimeStep();
    m_acks.resize(GetNPorts());
    m_active.resize(GetNPorts());
}

void
RdmaHost::SetActor(drydock::HostActor* actor)
{
    m_actor = actor;
}

void
RdmaHost::Adopt(ThreadContext* context, size_t slot)
{
    Partition::Adopt(context, slot);
    for (uint32_t thread = 0; thread < context->threads; ++thread)
    {
        m_boxes.push_back(std::make_unique<AnnouncementBox>(this));
    }
}

drydock::Time
RdmaHost::Now() const
{
    return drydock::Time::Ps(m_now);
}

void
RdmaHost::At(drydock::Time when, drydock::TimerId id)
{
    CHECK_NOTE(when.ps() >= m_now, "a timer in the past");
    m_calls.SetTimer(when.ps(), id);
}

void
RdmaHost::Send(const Message& message)
{
    CHECK(message.source == m_id && message.destination != m_id);
    CHECK(message.destination >= 0 && static_cast<size_t>(message.destination) < m_hosts->size());
    CHECK(message.size.count() > 0);
    const uint32_t number = FindPair(message);
    if (number == NO_PAIR)
    {
        return;
    }
    ++m_counts.messages;
    Announcement announcement{QueueKey(m_pairs[number].from, number), message};
    announcement.message.sent = Now();
    AnnouncementBox* box =
        (*m_hosts)[static_cast<size_t>(message.destination)]->m_boxes[GetThread()].get();
    if (box->announcements.empty())
    {
        Post(box);
    }
    box->announcements.push_back(announcement);

    QueuePair& pair = m_pairs[number];
    pair.Add(announcement.message, m_now + m_latency);
    if (!pair.armed)
    {
        Ready(number);
    }
}

uint32_t
RdmaHost::FindPair(const Message& message)
{
    const QueuePairName name{message.destination,
                             message.source_nic,
                             message.destination_nic,
                             message.flow};
    const auto [it, added] = m_pairByName.emplace(name, static_cast<uint32_t>(m_pairs.size()));
    if (!added)
    {
        return it->second;
    }
    const uint32_t path = PathHash(message);
    const auto ends = m_map->PickAccess(static_cast<uint32_t>(m_id),
                                        message.source_nic,
                                        static_cast<uint32_t>(message.destination),
                                        message.destination_nic,
                                        path);
    if (!ends)
    {
        it->second = NO_PAIR;
        if (m_failure.text.empty())
        {
            m_failure.time = m_now;
            m_failure.text = fmt::format("NIC {} of host {} cannot reach NIC {} of host {} over "
                                         "the fabric, but has a message for it at {}",
                                         message.source_nic,
                                         m_id,
                                         message.destination_nic,
                                         message.destination,
                                         ToString(Now()));
        }
        m_context->stop = true;
        return NO_PAIR;
    }
    m_pairs.emplace_back(ends->first,
                         ends->second,
                         path,
                         m_map->GetDirection(ends->first).fromPort,
                         m_mtu,
                         WindowOf(*ends, path));
    return it->second;
}

int64_t
RdmaHost::WindowOf(FabricMap::AccessPair ends, uint32_t path) const
{
    Frame full{};
    full.payload = static_cast<uint16_t>(m_mtu);
    Frame ack{};
    ack.flags = Frame::ACK;
    const FabricMap::AccessPair back{ends.second ^ 1, ends.first ^ 1};
    const FabricMap::PathTime there = m_map->MeasurePath(ends, path, SizeOf(full));
    const int64_t roundTrip = there.time + m_map->MeasurePath(back, path, SizeOf(ack)).time;
    const double packets =
        m_windowBdp * static_cast<double>(roundTrip) / static_cast<double>(there.slowest);
    return (static_cast<int64_t>(std::ceil(packets)) + m_packetsPerAck) * m_mtu;
}

void
RdmaHost::Announce(const Announcement& announcement)
{
    const uint32_t number =
        m_receiveIndex.FindOrAdd(announcement.queue, static_cast<uint32_t>(m_receive.size()));
    if (number == m_receive.size())
    {
        m_receive.emplace_back();
    }
    m_receive[number].messages.Push(announcement.message);
}

void
RdmaHost::Start()
{
    FabricNode::Start();
    m_actor->Start();
}

uint64_t
RdmaHost::Process(int64_t limit)
{
    const uint64_t before = GetEventCount() + m_counts.calls;
    for (;;)
    {
        const int64_t event = m_events.Empty() ? NEVER : m_events.Top().time;
        const int64_t call = m_calls.NextTime();
        if (std::min(event, call) >= limit)
        {
            return GetEventCount() + m_counts.calls - before;
        }
        // The actor is told when all that happened at that time is known.
        if (event <= call)
        {
            RunEvent(*this);
        }
        else
        {
            RunCall();
        }
    }
}

int64_t
RdmaHost::NextTime() const
{
    return std::min(m_events.Empty() ? NEVER : m_events.Top().time, m_calls.NextTime());
}

void
RdmaHost::RunCall()
{
    Message message;
    const HostCalls::Call call = m_calls.Pop(&message);
    m_now = call.time;
    ++m_counts.calls;
    switch (call.kind)
    {
    case HostCalls::TIMER:
        m_actor->OnTimer(call.id);
        break;
    case HostCalls::DELIVERED:
        m_deliveredTrace(message, m_now);
        m_actor->OnDelivered(message);
        break;
    case HostCalls::SENT:
        m_actor->OnSent(message);
        break;
    }
}

void
RdmaHost::Ready(uint32_t number)
{
    QueuePair& pair = m_pairs[number];
    const int64_t next = pair.Release(m_now);
    pair.armed = next >= 0;
    if (pair.armed)
    {
        m_events.Push({next, KeyOf(READY, number)});
    }
    Activate(number);
}

void
RdmaHost::Activate(uint32_t number)
{
    QueuePair& pair = m_pairs[number];
    if (!pair.active && pair.CanSend())
    {
        pair.active = true;
        m_active[pair.port].Push(number);
        Kick(*this, pair.port);
    }
}

bool
RdmaHost::Next(uint16_t port, Frame* frame)
{
    if (!m_acks[port].Empty())
    {
        *frame = m_acks[port].Front();
        m_acks[port].Pop();
        return true;
    }
    Fifo<uint32_t>& active = m_active[port];
    if (active.Empty())
    {
        return false;
    }
    const uint32_t number = active.Front();
    active.Pop();
    *frame = CutFrame(number);
    QueuePair& pair = m_pairs[number];
    pair.active = pair.CanSend();
    if (pair.active)
    {
        active.Push(number);
    }
    return true;
}

Frame
RdmaHost::CutFrame(uint32_t number)
{
    QueuePair& pair = m_pairs[number];
    const QueuePair::Packet packet = pair.Cut();
    ++m_counts.packets;
    Frame frame{};
    frame.queuePair = number;
    frame.psn = packet.psn;
    frame.from = pair.from;
    frame.to = pair.to;
    frame.path = pair.path;
    frame.payload = packet.payload;
    const bool due = ++pair.sinceAck >= static_cast<int32_t>(m_packetsPerAck);
    if (due || packet.endsMessage || packet.fillsWindow)
    {
        frame.flags = Frame::ACK_REQUESTED;
        pair.sinceAck = 0;
    }
    return frame;
}

void
RdmaHost::Arrive(uint16_t port, const Frame& frame)
{
    if (frame.IsAck())
    {
        ArriveAck(frame);
    }
    else
    {
        ArriveData(port, frame);
    }
}

void
RdmaHost::ArriveData(uint16_t port, const Frame& frame)
{
    const uint32_t number = m_receiveIndex.Find(QueueKey(frame.from, frame.queuePair));
    CHECK_NOTE(number != FlatIndex::NONE, "a packet of a message that was not announced");
    ReceiveQueue& queue = m_receive[number];
    CHECK_NOTE(frame.psn == queue.nextPsn, "a packet out of order");
    ++queue.nextPsn;
    queue.received += frame.payload;
    if (frame.flags & Frame::ACK_REQUESTED)
    {
        Frame ack{};
        ack.queuePair = frame.queuePair;
        ack.psn = queue.nextPsn;
        ack.from = frame.to ^ 1;
        ack.to = frame.from ^ 1;
        ack.path = frame.path;
        ack.flags = Frame::ACK;
        ++m_counts.acks;
        m_acks[port].Push(ack);
        Kick(*this, port);
    }
    if (queue.received == queue.messages.Front().size.count())
    {
        m_calls.Add(HostCalls::DELIVERED, m_now + m_latency, queue.messages.Front());
        queue.messages.Pop();
        queue.received = 0;
    }
}

void
RdmaHost::ArriveAck(const Frame& frame)
{
    QueuePair& pair = m_pairs[frame.queuePair];
    pair.Acknowledge(frame.psn, [this](const Message& message) {
        m_calls.Add(HostCalls::SENT, m_now, message);
    });
    Activate(frame.queuePair);
}

bool
RdmaHost::Idle() const
{
    return std::all_of(m_pairs.begin(), m_pairs.end(), [](const auto& p) { return p.Idle(); }) &&
           std::all_of(m_receive.begin(), m_receive.end(), [](const ReceiveQueue& queue) {
               return queue.messages.Empty();
           });
}

} // namespace ns3::rdma
