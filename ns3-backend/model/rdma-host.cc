#include "ns3-backend/model/rdma-host.h"

#include "core/base/check.h"

#include "ns3/trace-source-accessor.h"

#include <fmt/format.h>

#include <algorithm>

namespace ns3::rdma
{

using drydock::Message;

NS_OBJECT_ENSURE_REGISTERED(RdmaHost);

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
    m_pairs.Configure(static_cast<uint32_t>(id), m_map, &m_transport, SizeOf(full), SizeOf(ack));
    m_receiver.Configure(&m_transport);
    m_latency = m_nicLatency.GetTimeStep();
    m_cnps.resize(GetNPorts());
    m_acks.resize(GetNPorts());
    m_active.resize(GetNPorts());
    m_echoes.resize(GetNPorts());
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
    CHECK(message.source == m_id &&
          (message.destination != m_id || message.destination_nic != message.source_nic));
    CHECK(message.destination >= 0 && static_cast<size_t>(message.destination) < m_hosts->size());
    CHECK(message.size.count() > 0);
    const uint32_t number = m_pairs.Find(message);
    if (number == QueuePairTable::NONE)
    {
        Fail(fmt::format("NIC {} of host {} cannot reach NIC {} of host {} over the fabric, but "
                         "has a message for it at {}",
                         message.source_nic,
                         m_id,
                         message.destination_nic,
                         message.destination,
                         ToString(Now())));
        return;
    }
    ++m_counts.messages;
    Announcement announcement{RdmaReceiver::QueueKey(m_pairs[number].from, number), message};
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

void
RdmaHost::Announce(const Announcement& announcement)
{
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
RdmaHost::Timer(Kind kind, uint32_t number)
{
    switch (kind)
    {
    case READY:
        return Ready(number);
    case PACE:
        m_pairs[number].paced = false;
        return Activate(number);
    case RETRY:
        return Retry(number);
    default:
        CHECK(kind == PAUSE_END);
        EndPause(*this, static_cast<uint16_t>(number));
    }
}

void
RdmaHost::Activate(uint32_t number)
{
    QueuePair& pair = m_pairs[number];
    if (!pair.active && !pair.paced && pair.CanSend())
    {
        pair.active = true;
        m_active[pair.port].Push(number);
        Kick(*this, pair.port);
    }
}

bool
RdmaHost::Next(uint16_t port, Frame* frame)
{
    for (const bool notice : {true, false})
    {
        std::vector<Fifo<Frame>>& replies = notice ? m_cnps : m_acks;
        if (MaySend(port, notice ? m_transport.cnpPriority : m_transport.ackPriority, replies))
        {
            *frame = replies[port].Front();
            replies[port].Pop();
            if (frame->flags & Frame::INT)
            {
                m_carried = m_echoes[port].Front();
                m_echoes[port].Pop();
            }
            return true;
        }
    }
    while (MaySend(port, m_transport.dataPriority, m_active))
    {
        const uint32_t number = m_active[port].Front();
        m_active[port].Pop();
        QueuePair& pair = m_pairs[number];
        pair.active = false;
        if (!pair.CanSend())
        {
            continue; // what it wanted to send again has been acknowledged meanwhile
        }
        *frame = CutFrame(number);
        const bool now = !pair.controller || Pace(number, pair, SizeOf(*frame));
        pair.active = now && pair.CanSend();
        if (pair.active)
        {
            m_active[port].Push(number);
        }
        return true;
    }
    return false;
}

bool
RdmaHost::Pace(uint32_t number, QueuePair& pair, int64_t bytes)
{
    pair.allowedAt = std::max(pair.allowedAt, m_now) + pair.controller->Send(m_now, bytes);
    // Up to the end of this frame nothing could be sent anyway.
    if (pair.allowedAt <= m_now + m_egress[pair.port].Occupancy(bytes))
    {
        return true;
    }
    pair.paced = true;
    m_events.Push({pair.allowedAt, KeyOf(PACE, number)});
    return false;
}

Frame
RdmaHost::CutFrame(uint32_t number)
{
    QueuePair& pair = m_pairs[number];
    const QueuePair::Packet packet = pair.Cut();
    ++m_counts.packets;
    m_counts.repeated += packet.again ? 1 : 0;
    if (m_transport.retransmission != NEVER_LOST)
    {
        WatchForLoss(number, pair);
    }
    Frame frame{};
    frame.queuePair = number;
    frame.psn = packet.psn;
    frame.from = pair.from;
    frame.to = pair.to;
    frame.path = pair.path;
    frame.payload = packet.payload;
    frame.priority = m_transport.dataPriority;
    const bool due = ++pair.sinceAck >= static_cast<int32_t>(m_transport.packetsPerAck);
    if (due || packet.endsMessage || packet.fillsWindow)
    {
        frame.flags = Frame::ACK_REQUESTED;
        pair.sinceAck = 0;
        if (m_transport.needs.roundTrips && !packet.again)
        {
            pair.Stamp(m_now);
        }
    }
    if (m_transport.needs.telemetryBytes > 0)
    {
        frame.flags |= Frame::INT;
        m_carried = {};
    }
    return frame;
}

void
RdmaHost::WatchForLoss(uint32_t number, QueuePair& pair)
{
    if (!pair.retrying)
    {
        pair.retrying = true;
        pair.lastProgress = m_now;
        m_events.Push({m_now + m_transport.ackTimeout, KeyOf(RETRY, number)});
    }
}

void
RdmaHost::Retry(uint32_t number)
{
    QueuePair& pair = m_pairs[number];
    if (pair.Idle())
    {
        pair.retrying = false;
        return;
    }
    const int64_t timeout = m_transport.ackTimeout;
    if (m_now - pair.lastProgress >= timeout)
    {
        ++m_counts.timeouts;
        if (++pair.retries > m_transport.retryCount)
        {
            Fail(fmt::format("a queue pair from host {} to host {} gave up at {}: {} retries "
                             "without an acknowledgement",
                             m_id,
                             m_map->GetDirection(pair.to).toNode,
                             ToString(Now()),
                             m_transport.retryCount));
            return;
        }
        pair.lastProgress = m_now;
        if (pair.controller)
        {
            pair.controller->TimeOut(m_now);
            pair.Limit(pair.controller->GetWindow());
        }
        if (m_transport.retransmission == GO_BACK_N)
        {
            pair.GoBack();
        }
        else
        {
            pair.Repeat(pair.GetAckedPsn());
        }
        Activate(number);
    }
    m_events.Push({pair.lastProgress + timeout, KeyOf(RETRY, number)});
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
        m_pairs[frame.queuePair].controller->Notify(m_now);
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
RdmaHost::ArriveData(uint16_t port, const Frame& frame)
{
    m_receiver.Take(frame, m_now, m_replies, m_complete);
    for (const Message& message : m_complete)
    {
        m_calls.Add(HostCalls::DELIVERED, m_now + m_latency, message);
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
    // Only now: what is sent takes the place of the telemetry that has just come.
    if (!m_replies.empty())
    {
        Kick(*this, port);
    }
}

void
RdmaHost::ArriveAck(const Frame& frame)
{
    QueuePair& pair = m_pairs[frame.queuePair];
    if (pair.GetAckedPsn() != frame.psn)
    {
        pair.lastProgress = m_now;
        pair.retries = 0;
    }
    const int64_t before = pair.GetAckedBytes();
    pair.Acknowledge(frame.psn, [this](const Message& message) {
        m_calls.Add(HostCalls::SENT, m_now, message);
    });
    if (pair.controller)
    {
        Control(frame, pair.GetAckedBytes() - before, pair);
    }
    if (frame.flags & Frame::NACK)
    {
        if (m_transport.retransmission == GO_BACK_N)
        {
            pair.GoBack();
        }
        else
        {
            pair.Repeat(frame.psn + frame.payload);
        }
    }
    Activate(frame.queuePair);
}

void
RdmaHost::Control(const Frame& ack, int64_t bytes, QueuePair& pair)
{
    AckReport report = pair.Report(m_now, bytes);
    report.marked = ack.flags & Frame::CE;
    report.missing = ack.flags & Frame::NACK;
    report.telemetry = ack.flags & Frame::INT ? &m_carried : nullptr;
    if (m_transport.needs.roundTrips)
    {
        report.roundTrip = pair.TakeRoundTrip(ack.psn, m_now);
    }
    pair.controller->Acknowledge(report);
    pair.Limit(pair.controller->GetWindow());
}

bool
RdmaHost::Idle() const
{
    return m_pairs.Idle() && m_receiver.Idle();
}

} // namespace ns3::rdma
