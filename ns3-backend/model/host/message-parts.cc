#include "ns3-backend/model/host/message-parts.h"

#include "core/base/check.h"

#include <algorithm>

namespace ns3::rdma
{

using drydock::Message;

void
MessageParts::Expect(uint64_t connection, const Message& whole, uint32_t parts)
{
    const uint32_t number =
        m_index.FindOrAdd(connection, static_cast<uint32_t>(m_connections.size()));
    if (number == m_connections.size())
    {
        m_connections.emplace_back();
    }
    m_connections[number].Push({whole, parts});
}

void
MessageParts::CountDown(Fifo<Pending>& pending, drydock::MessageId id)
{
    for (size_t i = 0; i < pending.Size(); ++i)
    {
        if (pending[i].whole.id == id && pending[i].parts > 0)
        {
            --pending[i].parts;
            return;
        }
    }
    CHECK_NOTE(false, "a part of a message that was not expected");
}

bool
MessageParts::Idle() const
{
    return std::all_of(m_connections.begin(), m_connections.end(), [](const auto& pending) {
        return pending.Empty();
    });
}

} // namespace ns3::rdma
