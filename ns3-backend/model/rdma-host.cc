#include "ns3-backend/model/rdma-host.h"

#include "core/base/check.h"

#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/pointer.h"
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
            .AddAttribute("DataPriority",
                          "Traffic class of packets with data. 3: usual for RoCE.",
                          UintegerValue(3),
                          MakeUintegerAccessor(&RdmaHost::m_dataPriority),
                          MakeUintegerChecker<uint8_t>(0, CLASSES - 1))
            .AddAttribute("AckPriority",
                          "Traffic class of acknowledgements. 3: that of the data, as RoCE NICs "
                          "send them.",
                          UintegerValue(3),
                          MakeUintegerAccessor(&RdmaHost::m_ackPriority),
                          MakeUintegerChecker<uint8_t>(0, CLASSES - 1))
            .AddAttribute("CnpPriority",
                          "Traffic class of congestion notifications. 6: ConnectX's default.",
                          UintegerValue(6),
                          MakeUintegerAccessor(&RdmaHost::m_cnpPriority),
                          MakeUintegerChecker<uint8_t>(0, CLASSES - 1))
            .AddAttribute("CnpInterval",
                          "Least time between two notifications to one queue pair. 50 us: DCQCN "
                          "(SIGCOMM 2015), 3.2.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&RdmaHost::m_cnpInterval),
                          MakeTimeChecker(ns3::Time(0)))
            .AddAttribute("Retransmission",
                          "What is done about lost packets; `retransmission` of the transport.",
                          EnumValue(NEVER_LOST),
                          MakeEnumAccessor(&RdmaHost::m_retransmission),
                          MakeEnumChecker(NEVER_LOST,
                                          "never-lost",
                                          GO_BACK_N,
                                          "go-back-n",
                                          SELECTIVE_REPEAT,
                                          "selective-repeat"))
            .AddAttribute("AckTimeout",
                          "Without progress for so long, a queue pair sends again. 4.096 us x "
                          "2^20 = 4.29 s: InfiniBand's formula with NCCL's default exponent "
                          "(NCCL_IB_TIMEOUT).",
                          TimeValue(NanoSeconds(int64_t{4096} << 20)),
                          MakeTimeAccessor(&RdmaHost::m_ackTimeout),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddAttribute("RetryCount",
                          "Timeouts without progress that a queue pair survives. 7: NCCL's default "
                          "(NCCL_IB_RETRY_CNT).",
                          UintegerValue(7),
                          MakeUintegerAccessor(&RdmaHost::m_retryCount),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("NackInterval",
                          "Least time after which the same missing packet is asked for again. "
                          "500 us: the NIC of the HPCC simulations.",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&RdmaHost::m_nackInterval),
                          MakeTimeChecker(ns3::Time(0)))
            .AddAttribute("CongestionControl",
                          "What sets the rate of queue pairs; `congestion_control` of the "
                          "transport.",
                          PointerValue(),
                          MakePointerAccessor(&RdmaHost::m_congestionControl),
                          MakePointerChecker<CongestionControl>())
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
    m_cnps.resize(GetNPorts());
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
        Fail(fmt::format("NIC {} of host {} cannot reach NIC {} of host {} over the fabric, but "
                         "has a message for it at {}",
                         message.source_nic,
                         m_id,
                         message.destination_nic,
                         message.destination,
                         ToString(Now())));
        return NO_PAIR;
    }
    m_pairs.emplace_back(ends->first,
                         ends->second,
                         path,
                         m_map->GetDirection(ends->first).fromPort,
                         m_mtu,
                         WindowOf(*ends, path));
    if (m_congestionControl)
    {
        const drydock::Bandwidth line = m_map->GetDirection(ends->first).rate;
        m_pairs.back().pacer = m_congestionControl->NewFlow(line.bits_per_second());
    }
    return it->second;
}

void
RdmaHost::Fail(const std::string& text)
{
    if (m_failure.text.empty())
    {
        m_failure.time = m_now;
        m_failure.text = text;
    }
    m_context->stop = true;
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
    m_receive[number].Announce(announcement.message);
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
        if (MaySend(port, notice ? m_cnpPriority : m_ackPriority, replies))
        {
            *frame = replies[port].Front();
            replies[port].Pop();
            return true;
        }
    }
    while (MaySend(port, m_dataPriority, m_active))
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
        const bool now = !pair.pacer || Pace(number, pair, SizeOf(*frame));
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
    pair.allowedAt = std::max(pair.allowedAt, m_now) + pair.pacer->Send(m_now, bytes);
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
    if (m_retransmission != NEVER_LOST)
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
    frame.priority = m_dataPriority;
    const bool due = ++pair.sinceAck >= static_cast<int32_t>(m_packetsPerAck);
    if (due || packet.endsMessage || packet.fillsWindow)
    {
        frame.flags = Frame::ACK_REQUESTED;
        pair.sinceAck = 0;
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
        m_events.Push({m_now + m_ackTimeout.GetTimeStep(), KeyOf(RETRY, number)});
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
    const int64_t timeout = m_ackTimeout.GetTimeStep();
    if (m_now - pair.lastProgress >= timeout)
    {
        ++m_counts.timeouts;
        if (++pair.retries > m_retryCount)
        {
            Fail(fmt::format("a queue pair from host {} to host {} gave up at {}: {} retries "
                             "without an acknowledgement",
                             m_id,
                             m_map->GetDirection(pair.to).toNode,
                             ToString(Now()),
                             m_retryCount));
            return;
        }
        pair.lastProgress = m_now;
        if (m_retransmission == GO_BACK_N)
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
        m_pairs[frame.queuePair].pacer->Notify(m_now);
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
    const uint32_t number = m_receiveIndex.Find(QueueKey(frame.from, frame.queuePair));
    CHECK_NOTE(number != FlatIndex::NONE, "a packet of a message that was not announced");
    ReceiveQueue& queue = m_receive[number];
    const uint32_t reach = queue.GetReach();
    const auto verdict =
        queue.Take(frame.psn,
                   m_mtu,
                   m_retransmission == SELECTIVE_REPEAT,
                   [this](const Message& message) {
                       m_calls.Add(HostCalls::DELIVERED, m_now + m_latency, message);
                   });
    if (frame.flags & Frame::CE)
    {
        NotifyOfMarks(port, frame, queue);
    }
    if (verdict == ReceiveQueue::EARLY)
    {
        CHECK_NOTE(m_retransmission != NEVER_LOST, "a packet out of order");
        AskForMissing(port, frame, reach, queue);
        return;
    }
    const bool filledGap = verdict == ReceiveQueue::IN_ORDER && reach > 0;
    if (verdict == ReceiveQueue::IN_ORDER)
    {
        queue.lastNack = -1;
    }
    if ((frame.flags & Frame::ACK_REQUESTED) || filledGap)
    {
        Reply(port, frame, Frame::ACK, queue.GetNext(), 0);
    }
}

void
RdmaHost::AskForMissing(uint16_t port, const Frame& frame, uint32_t reach, ReceiveQueue& queue)
{
    const bool again =
        queue.lastNack >= 0 && m_now - queue.lastNack >= m_nackInterval.GetTimeStep();
    if (queue.lastNack < 0 || again)
    {
        queue.lastNack = m_now;
        Reply(port, frame, Frame::ACK | Frame::NACK, queue.GetNext(), 0);
    }
    // The first that is missing has been asked for; of later gaps only what this packet reveals.
    const uint32_t ahead = frame.psn - queue.GetNext();
    for (uint32_t i = std::max(reach, 1U); m_retransmission == SELECTIVE_REPEAT && i < ahead; ++i)
    {
        Reply(port, frame, Frame::ACK | Frame::NACK, queue.GetNext(), static_cast<uint16_t>(i));
    }
}

void
RdmaHost::NotifyOfMarks(uint16_t port, const Frame& frame, ReceiveQueue& queue)
{
    if (queue.lastCnp < 0 || m_now - queue.lastCnp >= m_cnpInterval.GetTimeStep())
    {
        queue.lastCnp = m_now;
        Reply(port, frame, Frame::CNP, 0, 0);
    }
}

void
RdmaHost::Reply(uint16_t port, const Frame& frame, uint8_t flags, uint32_t psn, uint16_t missing)
{
    Frame reply{};
    reply.queuePair = frame.queuePair;
    reply.psn = psn;
    reply.from = frame.to ^ 1;
    reply.to = frame.from ^ 1;
    reply.path = frame.path;
    reply.payload = missing;
    reply.flags = flags;
    reply.priority = flags & Frame::CNP ? m_cnpPriority : m_ackPriority;
    ++(flags & Frame::CNP ? m_counts.cnps : flags & Frame::NACK ? m_counts.nacks : m_counts.acks);
    (flags & Frame::CNP ? m_cnps : m_acks)[port].Push(reply);
    Kick(*this, port);
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
    pair.Acknowledge(frame.psn, [this](const Message& message) {
        m_calls.Add(HostCalls::SENT, m_now, message);
    });
    if (frame.flags & Frame::NACK)
    {
        if (m_retransmission == GO_BACK_N)
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

bool
RdmaHost::Idle() const
{
    return std::all_of(m_pairs.begin(), m_pairs.end(), [](const auto& p) { return p.Idle(); }) &&
           std::all_of(m_receive.begin(), m_receive.end(), [](const ReceiveQueue& queue) {
               return queue.Idle();
           });
}

} // namespace ns3::rdma
