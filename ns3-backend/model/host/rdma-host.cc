#include "ns3-backend/model/host/rdma-host.h"

#include "core/base/check.h"
#include "core/model/fabric/connection_shape.h"

#include "ns3/trace-source-accessor.h"

#include <fmt/format.h>

#include <algorithm>

namespace ns3::rdma
{

using drydock::Message;

NS_OBJECT_ENSURE_REGISTERED(RdmaHost);

TypeId
RdmaHost::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::RdmaHost")
            .SetParent<FabricNode>()
            .SetGroupName("Drydock")
            .AddConstructor<RdmaHost>()
            .AddAttribute("NicLatency",
                          "Time from the host's memory to the wire, and from the wire to memory, "
                          "without serialization; `latency` of the host's NICs.",
                          TimeValue(ns3::Time(0)),
                          MakeTimeAccessor(&RdmaHost::m_nicLatency),
                          MakeTimeChecker(ns3::Time(0), Seconds(1000)))
            .AddTraceSource("Delivered",
                            "A message is in the host's memory: the message, the time in "
                            "picoseconds. Message::sent is the time of Send.",
                            MakeTraceSourceAccessor(&RdmaHost::m_deliveredTrace),
                            "ns3::rdma::RdmaHost::DeliveredTracedCallback")
            .AddTraceSource("Repeat",
                            "A packet is sent again: the packet, the time in picoseconds.",
                            MakeTraceSourceAccessor(&RdmaHost::m_repeatTrace),
                            "ns3::rdma::RdmaHost::RepeatTracedCallback");
    return tid;
}

void
RdmaHost::Configure(drydock::HostId id,
                    const std::vector<RdmaHost*>* hosts,
                    const RdmaTransport::Parameters& transport)
{
    m_id = id;
    m_hosts = hosts;
    m_transport = transport;
    Frame full{};
    full.payload = static_cast<uint16_t>(transport.mtu);
    Frame ack{};
    ack.flags = Frame::ACK;
    m_sender.Configure(static_cast<uint32_t>(id),
                       m_map,
                       &m_transport,
                       SizeOf(full),
                       SizeOf(ack),
                       &m_timers);
    m_receiver.Configure(&m_transport, m_map);
    m_latency = m_nicLatency.GetTimeStep();
    m_scheduler = MakeScheduler(SizeOf(full));
    if (m_transport.turnBytes > 0)
    {
        m_transport.turnBytes = std::max(m_transport.turnBytes, SizeOf(full));
    }
    m_cnps.resize(GetNPorts());
    m_acks.resize(GetNPorts());
    m_echoes.resize(GetNPorts());
    m_repeated.resize(GetNPorts());
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
        m_boxes.back()->Address();
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
    CHECK(message.source == m_id &&
          (message.destination != m_id || message.destination_nic != message.source_nic));
    CHECK(message.destination >= 0 && static_cast<size_t>(message.destination) < m_hosts->size());
    CHECK(message.size.count() > 0);
    ++m_counts.messages;
    Message stamped = message;
    stamped.sent = Now();
    IsPart(message) ? SendParts(stamped) : static_cast<void>(Dispatch(stamped));
}

bool
RdmaHost::Dispatch(const Message& message)
{
    const uint32_t number = m_sender.Find(message);
    if (number == RdmaSender::NONE)
    {
        Fail(fmt::format("NIC {} of host {} cannot reach NIC {} of host {} over the fabric, but "
                         "has a message for it at {}",
                         message.source_nic,
                         m_id,
                         message.destination_nic,
                         message.destination,
                         ToString(Now())));
        return false;
    }
    SendAnnouncement({RdmaReceiver::QueueKey(static_cast<uint32_t>(m_id), number), message});
    KickSender(number, m_sender.Add(number, message, m_now, m_now + m_latency));
    return true;
}

void
RdmaHost::SendAnnouncement(const Announcement& announcement)
{
    const auto destination = static_cast<size_t>(announcement.message.destination);
    AnnouncementBox* box = (*m_hosts)[destination]->m_boxes[GetThread()].get();
    if (box->announcements.empty())
    {
        Post(box);
    }
    box->announcements.push_back(announcement);
}

void
RdmaHost::SendParts(const Message& message)
{
    const auto [it, added] = m_connections.emplace(QueuePairTable::NameOf(message),
                                                   static_cast<uint32_t>(m_connectionSent.size()));
    if (added)
    {
        m_connectionSent.push_back(0);
    }
    Message part = message;
    part.detail = it->second;
    const auto parts = drydock::SplitMessage(message.size.count(),
                                             m_connectionSent[it->second]++,
                                             {m_transport.queuePairs, m_transport.splitData});
    const auto count = static_cast<uint32_t>(parts.size());
    m_sentParts.Expect(ConnectionKey(part), message, count);
    SendAnnouncement({ConnectionKey(part), message, count});
    for (const drydock::MessagePart& each : parts)
    {
        part.size = drydock::Bytes(each.bytes);
        part.flow = drydock::FlowOfQueuePair(message.flow, each.queue_pair);
        if (!Dispatch(part))
        {
            return;
        }
    }
}

void
RdmaHost::Receive(uint32_t name, drydock::Unpacker& parcel)
{
    if (name != AnnouncementBox::NAME)
    {
        FabricNode::Receive(name, parcel);
        return;
    }
    std::vector<Announcement> announcements;
    parcel.Take(&announcements);
    for (const Announcement& announcement : announcements)
    {
        Announce(announcement);
    }
}

void
RdmaHost::Announce(const Announcement& announcement)
{
    if (announcement.parts > 0)
    {
        m_comingParts.Expect(announcement.queue, announcement.message, announcement.parts);
        return;
    }
    m_receiver.Announce(announcement);
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
        const int64_t event = NextEvent();
        const int64_t call = m_calls.NextTime();
        if (std::min(event, call) >= limit)
        {
            return GetEventCount() + m_counts.calls - before;
        }
        // Callbacks come after all events of the same time.
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
    return std::min(NextEvent(), m_calls.NextTime());
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
RdmaHost::Timer(EventKind kind, uint32_t number)
{
    switch (kind)
    {
    case READY:
        return KickSender(number, m_sender.Release(number, m_now));
    case PACE:
        return KickSender(number, m_sender.Resume(number));
    case RETRY:
        return Retry(number);
    default:
        CHECK(kind == PAUSE_END);
        EndPause(*this, static_cast<uint16_t>(number));
    }
}

void
RdmaHost::Retry(uint32_t number)
{
    const RdmaSender::RetryResult result = m_sender.Retry(number, m_now);
    m_counts.timeouts += result.timedOut ? 1 : 0;
    if (result.gaveUp)
    {
        Fail(fmt::format("a queue pair from host {} to host {} gave up at {}: {} retries without "
                         "an acknowledgement",
                         m_id,
                         m_map->direction(m_sender.GetPath(number).to).to_node,
                         ToString(Now()),
                         m_transport.retryCount));
    }
    KickSender(number, result.joined);
}

void
RdmaHost::Reroute(int64_t now)
{
    m_sender.Reroute(now);
}

bool
RdmaHost::Next(uint16_t port, Frame* frame)
{
    if (!m_scheduler.HasWeights())
    {
        return NextOf(ALL_CLASSES, port, frame);
    }
    while (const uint8_t ready = ReadyClasses(port))
    {
        const uint8_t priority = m_scheduler.Pick(port, ready);
        if (NextOf(ClassBit(priority), port, frame))
        {
            m_scheduler.Charge(port, priority, SizeOf(*frame));
            return true;
        }
    }
    return false;
}

uint8_t
RdmaHost::ReadyClasses(uint16_t port) const
{
    uint8_t ready = m_cnps[port].Empty() ? 0 : ClassBit(m_transport.cnpPriority);
    ready |= m_acks[port].Empty() ? 0 : ClassBit(m_transport.ackPriority);
    ready |= m_sender.Empty(port) ? 0 : ClassBit(m_transport.dataPriority);
    return ready & static_cast<uint8_t>(~m_egress[port].paused);
}

bool
RdmaHost::NextOf(uint8_t classes, uint16_t port, Frame* frame)
{
    const uint8_t open = classes & static_cast<uint8_t>(~m_egress[port].paused);
    for (const bool notice : {true, false})
    {
        Fifo<Frame>& replies = (notice ? m_cnps : m_acks)[port];
        const uint8_t priority = notice ? m_transport.cnpPriority : m_transport.ackPriority;
        if (!replies.Empty() && (open & ClassBit(priority)))
        {
            *frame = replies.Front();
            replies.Pop();
            if (frame->flags & Frame::INT)
            {
                m_carried = m_echoes[port].Front();
                m_echoes[port].Pop();
            }
            return true;
        }
    }
    return (open & ClassBit(m_transport.dataPriority)) && NextData(port, frame);
}

bool
RdmaHost::NextData(uint16_t port, Frame* frame)
{
    const RdmaSender::Sent sent = m_sender.Next(port, m_now, m_egress[port], frame);
    if (sent == RdmaSender::NOTHING)
    {
        return false;
    }
    ++m_counts.packets;
    if (frame->flags & Frame::INT)
    {
        m_carried = {};
    }
    if (sent == RdmaSender::AGAIN) [[unlikely]]
    {
        ++m_counts.repeated;
        ++m_repeated[port];
        m_repeatTrace(*frame, m_now);
    }
    return true;
}

void
RdmaHost::Arrive(uint16_t port, const Frame& frame)
{
    if (frame.flags & Frame::PAUSE)
    {
        ArrivePause(*this, port, frame);
    }
    else if (frame.flags & Frame::CNP)
    {
        m_sender.Notify(frame.queuePair, m_now);
    }
    else if (frame.IsAck())
    {
        ArriveAck(frame);
    }
    else
    {
        ArriveData(port, frame);
    }
}

void
RdmaHost::ArriveAck(const Frame& frame)
{
    const bool joined = m_sender.Acknowledge(frame, m_carried, m_now, m_complete);
    for (const Message& message : m_complete)
    {
        const auto sent = [this](const Message& whole) {
            m_calls.Add(HostCalls::SENT, m_now, whole);
        };
        IsPart(message) ? m_sentParts.Finish(ConnectionKey(message), message.id, sent)
                        : sent(message);
    }
    KickSender(frame.queuePair, joined);
}

void
RdmaHost::ArriveData(uint16_t port, const Frame& frame)
{
    m_receiver.Take(frame, m_now, m_replies, m_complete);
    for (const Message& message : m_complete)
    {
        const auto deliver = [this](const Message& whole) {
            m_calls.Add(HostCalls::DELIVERED, m_now + m_latency, whole);
        };
        IsPart(message) ? m_comingParts.Finish(ConnectionKey(message), message.id, deliver)
                        : deliver(message);
    }
    for (const Frame& reply : m_replies)
    {
        const bool notice = reply.flags & Frame::CNP;
        ++(notice ? m_counts.cnps : (reply.flags & Frame::NACK) ? m_counts.nacks : m_counts.acks);
        if (reply.flags & Frame::INT)
        {
            m_echoes[port].Push(m_carried);
        }
        (notice ? m_cnps : m_acks)[port].Push(reply);
    }
    // After the loop: sending overwrites m_carried, the telemetry that has just arrived.
    if (!m_replies.empty())
    {
        Kick(*this, port);
    }
}

bool
RdmaHost::Idle() const
{
    return m_sender.Idle() && m_receiver.Idle() && m_sentParts.Idle() && m_comingParts.Idle();
}

} // namespace ns3::rdma
