#include "ns3-backend/model/host/queue-pair-table.h"

#include "core/containers/hash.h"
#include "core/model/fabric/connection_shape.h"

#include <algorithm>

namespace ns3::rdma
{

using drydock::Message;

size_t
QueuePairTable::NameHash::operator()(const QueuePairName& name) const
{
    return drydock::HashOf(name.destination, name.sourceNic, name.destinationNic, name.flow);
}

void
QueuePairTable::Configure(uint32_t host,
                          const FabricMap* map,
                          const RdmaTransport::Parameters* transport,
                          int64_t dataSize,
                          int64_t ackSize)
{
    m_host = host;
    m_map = map;
    m_transport = transport;
    m_dataSize = dataSize;
    m_ackSize = ackSize;
}

uint32_t
QueuePairTable::Find(const Message& message)
{
    const auto [it, added] =
        m_byName.emplace(NameOf(message), static_cast<uint32_t>(m_pairs.size()));
    if (!added)
    {
        return it->second;
    }
    const uint32_t path = PathHash(message);
    const auto ends = m_map->PickAccess(m_host,
                                        message.source_nic,
                                        static_cast<uint32_t>(message.destination),
                                        message.destination_nic,
                                        path);
    if (ends)
    {
        Make(*ends, path);
    }
    else
    {
        it->second = NONE;
    }
    return it->second;
}

void
QueuePairTable::Make(const FabricMap::AccessPair& ends, uint32_t path)
{
    const FabricDirection& first = m_map->direction(ends.first);
    const FabricMap::AccessPair back{ends.second ^ 1, ends.first ^ 1};
    const FabricMap::PathTime there = m_map->MeasurePath(ends, path, m_dataSize);
    const int64_t roundTrip = there.time + m_map->MeasurePath(back, path, m_ackSize).time;
    QueuePair& pair =
        m_pairs.emplace_back(QueuePairPath{ends.first, ends.second, path, first.from_port},
                             m_transport->mtu,
                             WindowFor(roundTrip, there.slowest));
    if (m_transport->congestionControl != nullptr)
    {
        pair.pacing.controller = m_transport->congestionControl->NewFlow(
            {first.full_rate.bits_per_second(), roundTrip, m_transport->mtu, there.switches});
        pair.Limit(pair.pacing.controller->GetWindow());
    }
}

int64_t
QueuePairTable::WindowFor(int64_t roundTrip, int64_t slowest) const
{
    return drydock::PacketsInFlight(m_transport->windowBdp,
                                    roundTrip,
                                    slowest,
                                    m_transport->packetsPerAck) *
           m_transport->mtu;
}

bool
QueuePairTable::Idle() const
{
    return std::all_of(m_pairs.begin(), m_pairs.end(), [](const QueuePair& pair) {
        return pair.Idle();
    });
}

uint32_t
QueuePairTable::PathHash(const Message& message)
{
    return drydock::PathHash(message.source,
                             message.source_nic,
                             message.destination,
                             message.destination_nic,
                             message.flow);
}

} // namespace ns3::rdma
