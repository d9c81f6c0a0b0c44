#include "ns3-backend/model/message-parts.h"

#include "core/base/check.h"
#include "ns3-backend/model/fabric-map.h"

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

std::vector<MessageSplitter::Part>
MessageSplitter::Split(int64_t bytes, uint64_t number, uint32_t queuePairs, bool split)
{
    const auto first = static_cast<uint32_t>(number % queuePairs);
    if (!split)
    {
        return {{bytes, first}};
    }
    constexpr int64_t alignment = 128;
    const int64_t even = (bytes + queuePairs - 1) / queuePairs;
    const int64_t chunk = (even + alignment - 1) / alignment * alignment;
    std::vector<Part> parts;
    for (uint32_t i = 0; i < queuePairs; ++i)
    {
        const int64_t left = std::max<int64_t>(bytes - i * chunk, 1);
        parts.push_back({std::min(chunk, left), (first + i) % queuePairs});
    }
    return parts;
}

uint32_t
MessageSplitter::FlowOf(uint32_t flow, uint32_t number)
{
    return number == 0 ? flow : FabricMap::Mix(flow ^ FabricMap::Mix(number));
}

} // namespace ns3::rdma
