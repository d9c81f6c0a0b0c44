#include "ns3-backend/model/host/rdma-receiver.h"

#include "core/base/check.h"

#include <algorithm>

namespace ns3::rdma
{

using drydock::Message;

void
RdmaReceiver::Announce(const Announcement& announcement)
{
    const uint32_t number =
        m_index.FindOrAdd(announcement.queue, static_cast<uint32_t>(m_queues.size()));
    if (number == m_queues.size())
    {
        m_queues.emplace_back();
    }
    m_queues[number].Announce(announcement.message);
}

void
RdmaReceiver::Take(const Frame& frame,
                   int64_t now,
                   std::vector<Frame>& replies,
                   std::vector<Message>& done)
{
    replies.clear();
    done.clear();
    const uint32_t source = m_map->direction(frame.from).from_node;
    const uint32_t number = m_index.Find(QueueKey(source, frame.queuePair));
    CHECK_NOTE(number != m_index.kNone, "a packet of a message that was not announced");
    ReceiveQueue& queue = m_queues[number];
    const bool marked = frame.flags & Frame::CE;
    if (marked && m_transport->needs.notifications &&
        (queue.lastCnp < 0 || now - queue.lastCnp >= m_transport->cnpInterval))
    {
        queue.lastCnp = now;
        replies.push_back(Reply(frame, Frame::CNP, 0, 0));
    }
    if (frame.flags & Frame::TRIMMED) [[unlikely]]
    {
        TakeHeader(frame, now, queue, replies);
        return;
    }
    if (m_transport->needs.echoes)
    {
        EchoChange(frame, marked, queue, replies);
    }
    const uint32_t reach = queue.GetReach();
    const bool keep = m_transport->retransmission == SELECTIVE_REPEAT || m_transport->reordering;
    const auto verdict =
        queue.Take(frame.psn, m_transport->mtu, keep, [&done](const Message& message) {
            done.push_back(message);
        });
    if (verdict == ReceiveQueue::EARLY)
    {
        if (m_transport->reordering)
        {
            RequestOverdue(frame, now, queue, replies);
            return;
        }
        CHECK_NOTE(m_transport->retransmission != NEVER_LOST, "a packet out of order");
        RequestMissing(frame, now, reach, queue, replies);
        return;
    }
    const bool filledGap = verdict == ReceiveQueue::IN_ORDER && reach > 0;
    if ((frame.flags & Frame::ACK_REQUESTED) || filledGap)
    {
        replies.push_back(Acknowledgement(frame, queue));
    }
}

void
RdmaReceiver::EchoChange(const Frame& frame,
                         bool marked,
                         ReceiveQueue& queue,
                         std::vector<Frame>& replies) const
{
    // DCTCP (SIGCOMM 2010), figure 10: the sender learns exactly which packets were marked.
    if (marked != queue.echo)
    {
        replies.push_back(Acknowledgement(frame, queue));
        queue.echo = marked;
    }
}

Frame
RdmaReceiver::Acknowledgement(const Frame& frame, const ReceiveQueue& queue) const
{
    uint8_t flags = Frame::ACK | (frame.flags & Frame::INT);
    flags |= queue.echo ? Frame::CE : 0;
    return Reply(frame, flags, queue.GetNext(), 0);
}

void
RdmaReceiver::TakeHeader(const Frame& frame,
                         int64_t now,
                         ReceiveQueue& queue,
                         std::vector<Frame>& replies) const
{
    const uint32_t ahead = frame.psn - queue.GetNext();
    if (static_cast<int32_t>(ahead) < 0)
    {
        replies.push_back(Acknowledgement(frame, queue)); // a duplicate of a packet that arrived
    }
    else if (ahead <= UINT16_MAX && !queue.IsHere(ahead))
    {
        const bool keep = m_transport->retransmission == SELECTIVE_REPEAT;
        queue.NoteRequest(ahead, now, keep);
        constexpr uint8_t flags = Frame::ACK | Frame::NACK;
        replies.push_back(Reply(frame, flags, queue.GetNext(), static_cast<uint16_t>(ahead)));
    }
}

void
RdmaReceiver::RequestMissing(const Frame& frame,
                             int64_t now,
                             uint32_t reach,
                             ReceiveQueue& queue,
                             std::vector<Frame>& replies) const
{
    constexpr uint8_t flags = Frame::ACK | Frame::NACK;
    if (queue.lastNack < 0 || now - queue.lastNack >= m_transport->nackInterval)
    {
        queue.NoteRequest(0, now, false);
        replies.push_back(Reply(frame, flags, queue.GetNext(), 0));
    }
    if (m_transport->retransmission != SELECTIVE_REPEAT)
    {
        return;
    }
    // The first missing packet was requested above. This packet reveals the gap before it: request
    // its packets, as far as the 16-bit field reaches. Packets beyond are requested when they are
    // the first missing one.
    const uint32_t ahead = std::min(frame.psn - queue.GetNext(), UINT16_MAX + 1U);
    for (uint32_t i = std::max(reach, 1U); i < ahead; ++i)
    {
        if (!queue.WasRequested(i))
        {
            replies.push_back(Reply(frame, flags, queue.GetNext(), static_cast<uint16_t>(i)));
        }
    }
}

void
RdmaReceiver::RequestOverdue(const Frame& frame,
                             int64_t now,
                             ReceiveQueue& queue,
                             std::vector<Frame>& replies) const
{
    if (m_transport->retransmission == NEVER_LOST)
    {
        return; // no packet is lost: it will arrive
    }
    queue.Watch(now, m_transport->reorderTime, [&](uint32_t ahead) {
        if (ahead <= UINT16_MAX)
        {
            constexpr uint8_t flags = Frame::ACK | Frame::NACK;
            replies.push_back(Reply(frame, flags, queue.GetNext(), static_cast<uint16_t>(ahead)));
        }
    });
}

Frame
RdmaReceiver::Reply(const Frame& frame, uint8_t flags, uint32_t psn, uint16_t missing) const
{
    Frame reply{};
    reply.queuePair = frame.queuePair;
    reply.psn = psn;
    reply.from = frame.to ^ 1;
    reply.to = frame.from ^ 1;
    reply.path = frame.path;
    reply.payload = missing;
    reply.flags = flags;
    reply.priority = flags & Frame::CNP ? m_transport->cnpPriority : m_transport->ackPriority;
    return reply;
}

bool
RdmaReceiver::Idle() const
{
    return std::all_of(m_queues.begin(), m_queues.end(), [](const ReceiveQueue& queue) {
        return queue.Idle();
    });
}

} // namespace ns3::rdma
