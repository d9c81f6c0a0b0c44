// The sending half of a host: queue pairs take turns, follow their rates, hear what has arrived and
// send again what has not.
#include "ns3-backend/model/host/rdma-host.h"

#include <fmt/format.h>

#include <algorithm>

namespace ns3::rdma
{

using drydock::Message;

void
RdmaHost::Ready(uint32_t number)
{
    QueuePair& pair = m_pairs[number];
    const int64_t next = pair.Release(m_now);
    pair.armed = next >= 0;
    if (pair.armed)
    {
        SetTimer(next, READY, number);
    }
    Activate(number);
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

void
RdmaHost::Reroute(int64_t now)
{
    for (uint32_t number = 0; number < m_pairs.Size(); ++number)
    {
        QueuePair& pair = m_pairs[number];
        const FabricMap::AccessPair way = m_map->Redirect({pair.from, pair.to}, pair.path);
        if (way.first == pair.from && way.second == pair.to)
        {
            continue;
        }
        if (pair.active)
        {
            LeaveRound(number, pair);
        }
        pair.from = way.first;
        pair.to = way.second;
        pair.port = m_map->direction(way.first).from_port;
        if (!pair.paced)
        {
            pair.paced = true; // until then, when its turn comes at the other port
            SetTimer(now, PACE, number);
        }
    }
}

void
RdmaHost::LeaveRound(uint32_t number, QueuePair& pair)
{
    Fifo<uint32_t>& round = m_active[pair.port];
    for (size_t left = round.Size(); left > 0; --left)
    {
        const uint32_t each = round.Front();
        round.Pop();
        if (each != number)
        {
            round.Push(each);
        }
    }
    pair.active = false;
    pair.credit = std::min<int64_t>(pair.credit, 0);
}

bool
RdmaHost::NextData(uint16_t port, Frame* frame)
{
    Fifo<uint32_t>& round = m_active[port];
    while (!round.Empty())
    {
        const uint32_t number = round.Front();
        QueuePair& pair = m_pairs[number];
        if (!pair.CanSend())
        {
            round.Pop();
            pair.active = false;
            continue; // what it wanted to send again has been acknowledged meanwhile
        }
        *frame = CutFrame(number);
        const int64_t bytes = SizeOf(*frame);
        const bool now = !pair.controller || Pace(number, pair, bytes);
        pair.active = now && pair.CanSend();
        if (!pair.active || EndsTurn(pair, bytes))
        {
            round.Pop();
            pair.credit = std::min<int64_t>(pair.credit, 0);
            if (pair.active)
            {
                round.Push(number);
            }
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
    SetTimer(pair.allowedAt, PACE, number);
    return false;
}

Frame
RdmaHost::CutFrame(uint32_t number)
{
    QueuePair& pair = m_pairs[number];
    const QueuePair::Packet packet = pair.Cut();
    ++m_counts.packets;
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
        pair.Ask(packet.psn);
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
    if (packet.again) [[unlikely]]
    {
        ++m_counts.repeated;
        ++m_repeated[pair.port];
        m_repeatTrace(frame, m_now);
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
        SetTimer(m_now + m_transport.ackTimeout, RETRY, number);
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
                             m_map->direction(pair.to).to_node,
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
            pair.GoBack(pair.GetAckedPsn());
        }
        else
        {
            pair.Repeat(pair.GetAckedPsn());
        }
        Activate(number);
    }
    SetTimer(pair.lastProgress + timeout, RETRY, number);
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
        const auto sent = [this](const Message& whole) {
            m_calls.Add(HostCalls::SENT, m_now, whole);
        };
        IsPart(message) ? m_sentParts.Finish(ConnectionKey(message), message.id, sent)
                        : sent(message);
    });
    if (pair.controller)
    {
        Control(frame, pair.GetAckedBytes() - before, pair);
    }
    if (frame.flags & Frame::NACK)
    {
        if (m_transport.retransmission == GO_BACK_N)
        {
            pair.GoBack(frame.psn + frame.payload);
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

} // namespace ns3::rdma
