#include "ns3-backend/model/host/rdma-sender.h"

#include <algorithm>

namespace ns3::rdma
{

using drydock::Message;

void
RdmaSender::Configure(uint32_t host,
                      const FabricMap* map,
                      const RdmaTransport::Parameters* transport,
                      int64_t dataSize,
                      int64_t ackSize,
                      NodeTimers* timers)
{
    m_map = map;
    m_transport = transport;
    m_timers = timers;
    m_headerSize = dataSize - transport->mtu;
    m_pairs.Configure(host, map, transport, dataSize, ackSize);
    m_rounds.resize(map->ports_of(host).size());
}

bool
RdmaSender::Add(uint32_t number, const Message& message, int64_t now, int64_t ready)
{
    QueuePair& pair = m_pairs[number];
    pair.Add(message, ready);
    return !pair.waitsReady && Release(number, now);
}

bool
RdmaSender::Release(uint32_t number, int64_t now)
{
    QueuePair& pair = m_pairs[number];
    const int64_t next = pair.Release(now);
    pair.waitsReady = next >= 0;
    if (pair.waitsReady)
    {
        m_timers->Set(next, READY, number);
    }
    return Activate(number);
}

bool
RdmaSender::Resume(uint32_t number)
{
    m_pairs[number].pacing.waiting = false;
    return Activate(number);
}

bool
RdmaSender::Activate(uint32_t number)
{
    QueuePair& pair = m_pairs[number];
    if (pair.turn.active || pair.pacing.waiting || !pair.CanSend())
    {
        return false;
    }
    pair.turn.active = true;
    m_rounds[pair.path.port].Push(number);
    return true;
}

void
RdmaSender::Reroute(int64_t now)
{
    for (uint32_t number = 0; number < m_pairs.Size(); ++number)
    {
        QueuePair& pair = m_pairs[number];
        QueuePairPath& path = pair.path;
        const FabricMap::AccessPair ends = m_map->Redirect({path.from, path.to}, path.hash);
        if (ends.first == path.from && ends.second == path.to)
        {
            continue;
        }
        if (pair.turn.active)
        {
            LeaveRound(number, pair);
        }
        path.from = ends.first;
        path.to = ends.second;
        path.port = m_map->direction(ends.first).from_port;
        if (!pair.pacing.waiting)
        {
            pair.pacing.waiting = true; // the event puts it into the round of its new port
            m_timers->Set(now, PACE, number);
        }
    }
}

void
RdmaSender::LeaveRound(uint32_t number, QueuePair& pair)
{
    Fifo<uint32_t>& round = m_rounds[pair.path.port];
    for (size_t left = round.Size(); left > 0; --left)
    {
        const uint32_t each = round.Front();
        round.Pop();
        if (each != number)
        {
            round.Push(each);
        }
    }
    pair.turn.active = false;
    pair.turn.credit = std::min<int64_t>(pair.turn.credit, 0);
}

RdmaSender::Sent
RdmaSender::Next(uint16_t port, int64_t now, const Egress& egress, Frame* frame)
{
    Fifo<uint32_t>& round = m_rounds[port];
    while (!round.Empty())
    {
        const uint32_t number = round.Front();
        QueuePair& pair = m_pairs[number];
        if (!pair.CanSend())
        {
            round.Pop();
            pair.turn.active = false;
            continue; // the packets to be sent again have been acknowledged in the meantime
        }
        const Sent sent = CutFrame(number, now, frame);
        const int64_t bytes = m_headerSize + frame->payload;
        const bool allowed = !pair.pacing.controller || Pace(number, pair, now, bytes, egress);
        pair.turn.active = allowed && pair.CanSend();
        if (!pair.turn.active || EndsTurn(pair.turn, bytes))
        {
            round.Pop();
            pair.turn.credit = std::min<int64_t>(pair.turn.credit, 0);
            if (pair.turn.active)
            {
                round.Push(number);
            }
        }
        return sent;
    }
    return NOTHING;
}

bool
RdmaSender::EndsTurn(QueuePairTurn& turn, int64_t bytes) const
{
    if (m_transport->turnBytes == 0)
    {
        return true;
    }
    // As for classes (ClassScheduler): the excess counts in the next turn.
    if (turn.credit <= 0)
    {
        turn.credit += m_transport->turnBytes;
    }
    turn.credit -= bytes;
    return turn.credit <= 0;
}

bool
RdmaSender::Pace(uint32_t number, QueuePair& pair, int64_t now, int64_t bytes, const Egress& egress)
{
    QueuePairPacing& pacing = pair.pacing;
    pacing.allowedAt = std::max(pacing.allowedAt, now) + pacing.controller->Send(now, bytes);
    // Until the end of this frame the port is busy anyway.
    if (pacing.allowedAt <= now + egress.Occupancy(bytes))
    {
        return true;
    }
    pacing.waiting = true;
    m_timers->Set(pacing.allowedAt, PACE, number);
    return false;
}

RdmaSender::Sent
RdmaSender::CutFrame(uint32_t number, int64_t now, Frame* frame)
{
    QueuePair& pair = m_pairs[number];
    const QueuePair::Packet packet = pair.Cut();
    if (m_transport->retransmission != NEVER_LOST)
    {
        WatchForLoss(number, pair.lossWatch, now);
    }
    *frame = Frame{};
    frame->queuePair = number;
    frame->psn = packet.psn;
    frame->from = pair.path.from;
    frame->to = pair.path.to;
    frame->path = pair.path.hash;
    frame->payload = packet.payload;
    frame->priority = m_transport->dataPriority;
    const bool due = ++pair.sinceAck >= static_cast<int32_t>(m_transport->packetsPerAck);
    if (due || packet.endsMessage || packet.fillsWindow)
    {
        frame->flags = Frame::ACK_REQUESTED;
        pair.NoteAckRequest(packet.psn);
        pair.sinceAck = 0;
        if (m_transport->needs.roundTrips && !packet.again)
        {
            pair.BeginRoundTrip(now);
        }
    }
    if (m_transport->needs.telemetryBytes > 0)
    {
        frame->flags |= Frame::INT;
    }
    return packet.again ? AGAIN : FIRST_TIME;
}

void
RdmaSender::WatchForLoss(uint32_t number, QueuePairLossWatch& watch, int64_t now)
{
    if (!watch.running)
    {
        watch.running = true;
        watch.lastProgress = now;
        m_timers->Set(now + m_transport->ackTimeout, RETRY, number);
    }
}

RdmaSender::RetryResult
RdmaSender::Retry(uint32_t number, int64_t now)
{
    QueuePair& pair = m_pairs[number];
    QueuePairLossWatch& watch = pair.lossWatch;
    if (pair.Idle())
    {
        watch.running = false;
        return {};
    }
    RetryResult result;
    result.timedOut = now - watch.lastProgress >= m_transport->ackTimeout;
    if (result.timedOut)
    {
        if (++watch.retries > m_transport->retryCount)
        {
            result.gaveUp = true;
            return result;
        }
        watch.lastProgress = now;
        if (pair.pacing.controller)
        {
            pair.pacing.controller->TimeOut(now);
            pair.Limit(pair.pacing.controller->GetWindow());
        }
        Resend(pair.GetAckedPsn(), pair);
        result.joined = Activate(number);
    }
    m_timers->Set(watch.lastProgress + m_transport->ackTimeout, RETRY, number);
    return result;
}

void
RdmaSender::Resend(uint32_t psn, QueuePair& pair)
{
    if (m_transport->retransmission == GO_BACK_N)
    {
        pair.GoBack(psn);
    }
    else
    {
        pair.Repeat(psn);
    }
}

bool
RdmaSender::Acknowledge(const Frame& ack,
                        const Telemetry& telemetry,
                        int64_t now,
                        std::vector<Message>& done)
{
    QueuePair& pair = m_pairs[ack.queuePair];
    if (pair.GetAckedPsn() != ack.psn)
    {
        pair.lossWatch.lastProgress = now;
        pair.lossWatch.retries = 0;
    }
    const int64_t before = pair.GetAckedBytes();
    done.clear();
    pair.Acknowledge(ack.psn, [&done](const Message& message) { done.push_back(message); });
    if (pair.pacing.controller)
    {
        Control(ack, telemetry, now, pair.GetAckedBytes() - before, pair);
    }
    if (ack.flags & Frame::NACK)
    {
        Resend(ack.psn + ack.payload, pair);
    }
    return Activate(ack.queuePair);
}

void
RdmaSender::Control(const Frame& ack,
                    const Telemetry& telemetry,
                    int64_t now,
                    int64_t bytes,
                    QueuePair& pair)
{
    AckReport report = pair.Report(now, bytes);
    report.marked = ack.flags & Frame::CE;
    report.missing = ack.flags & Frame::NACK;
    report.telemetry = ack.flags & Frame::INT ? &telemetry : nullptr;
    if (m_transport->needs.roundTrips)
    {
        report.roundTrip = pair.EndRoundTrip(ack.psn, now);
    }
    pair.pacing.controller->Acknowledge(report);
    pair.Limit(pair.pacing.controller->GetWindow());
}

} // namespace ns3::rdma
