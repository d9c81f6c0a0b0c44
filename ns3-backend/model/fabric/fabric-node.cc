#include "ns3-backend/model/fabric/fabric-node.h"

#include "core/base/check.h"

#include "ns3/uinteger.h"

#include <fmt/format.h>

#include <cmath>

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(FabricNode);

TypeId
FabricNode::GetTypeId()
{
    static TypeId tid = AddTransportAttributes(
        TypeId("ns3::rdma::FabricNode").SetParent<Node>().SetGroupName("Drydock"),
        AttributeMembers(std::make_index_sequence<CLASSES>()));
    return tid;
}

template <size_t... Classes>
std::vector<AttributeMember>
FabricNode::AttributeMembers(std::index_sequence<Classes...>)
{
    return {{"PauseWatchdog", MakeTimeAccessor(&FabricNode::m_pauseWatchdog)},
            {fmt::format("Weight{}", Classes),
             MakeUintegerAccessor(&FabricNode::SetClassWeight<Classes>,
                                  &FabricNode::GetClassWeight<Classes>)}...};
}

ClassScheduler
FabricNode::MakeScheduler(int64_t largestFrame) const
{
    ClassScheduler scheduler;
    scheduler.Configure(m_weights, GetNPorts(), largestFrame);
    return scheduler;
}

void
FabricNode::Fail(const std::string& text)
{
    if (m_failure.text.empty())
    {
        m_failure = {text, m_now};
    }
    m_context->stop = true;
}

void
FabricNode::FailPaused(uint16_t port, uint8_t priority)
{
    Fail(fmt::format("port {} of {} has been paused for {} without a break at {} (class {}): the "
                     "pauses of the fabric wait for each other in a cycle",
                     port,
                     m_map->NameOf(m_node),
                     ToString(drydock::Time::Ps(m_pauseWatchdog.GetTimeStep())),
                     ToString(drydock::Time::Ps(m_now)),
                     priority));
}

void
FabricNode::Connect(const FabricMap* map, uint32_t node, int64_t header, int64_t ack)
{
    m_map = map;
    m_node = node;
    m_headerSize = header;
    m_ackSize = ack;
    const std::vector<uint32_t>& links = map->ports_of(node);
    m_egress.resize(links.size());
    m_arriving.resize(links.size());
    m_arrivingTelemetry.resize(links.size());
    m_mailboxes.resize(links.size());
    m_portTimes.Configure(2 * links.size());
    for (size_t port = 0; port < links.size(); ++port)
    {
        const FabricDirection& direction = map->direction(links[port]);
        m_egress[port].direction = &direction;
        m_egress[port].delay = direction.delay;
        m_egress[port].psPerByte = direction.exact ? direction.ps_per_byte : 0;
    }
}

void
FabricNode::SetPeer(uint16_t port, FabricNode* peer)
{
    m_mailboxes[port] = std::make_unique<LinkMailbox>(peer, m_egress[port].direction->to_port);
    m_egress[port].mailbox = m_mailboxes[port].get();
    SetHead(port);
}

void
FabricNode::Start()
{
    for (uint16_t port = 0; port < GetNPorts(); ++port)
    {
        const auto device = DynamicCast<FabricPort>(GetDevice(port));
        m_egress[port].listener = device->HasListener() ? PeekPointer(device) : nullptr;
        m_mailboxes[port]->Address();
    }
}

void
FabricNode::Accept(uint16_t port, std::vector<Frame>& frames, std::vector<Telemetry>& telemetry)
{
    CHECK_NOTE(frames.front().time >= m_now, "a frame from before the window");
    Fifo<Frame>& arriving = m_arriving[port];
    if (arriving.Empty())
    {
        m_portTimes.Set(port, frames.front().time);
    }
    arriving.Take(frames);
    if (!telemetry.empty())
    {
        m_arrivingTelemetry[port].Take(telemetry);
    }
}

void
FabricNode::Receive(uint32_t name, drydock::Unpacker& parcel)
{
    std::vector<Frame> frames;
    std::vector<Telemetry> telemetry;
    parcel.Take(&frames);
    parcel.Take(&telemetry);
    Accept(static_cast<uint16_t>(name), frames, telemetry);
}

std::vector<FabricNode::Impairment>&
FabricNode::GetImpairments()
{
    if (m_impairments.empty())
    {
        m_impairments.resize(m_egress.size());
        for (size_t port = 0; port < m_egress.size(); ++port)
        {
            m_impairments[port].draws = Draws(uint64_t{m_map->ports_of(m_node)[port]} << 32);
        }
    }
    return m_impairments;
}

void
FabricNode::SetHead(uint16_t port)
{
    const FabricDirection& direction = *m_egress[port].direction;
    const int64_t bytes = m_map->cut_through();
    const bool cutsThrough = bytes > 0 && m_map->IsSwitch(direction.to_node);
    m_egress[port].head = cutsThrough ? direction.Occupancy(bytes) : 0;
}

void
FabricNode::UpdateRate(uint16_t port)
{
    const FabricDirection& direction = *m_egress[port].direction;
    m_egress[port].psPerByte = direction.exact ? direction.ps_per_byte : 0;
    SetHead(port);
}

void
FabricNode::Cut(uint16_t port)
{
    GetImpairments()[port].lostUntil = NEVER;
}

void
FabricNode::Mend(uint16_t port, int64_t now)
{
    // Frames that left the peer before now were on a dead cable.
    const uint32_t incoming = m_map->ports_of(m_node)[port] ^ 1;
    GetImpairments()[port].lostUntil = now + m_map->direction(incoming).delay;
}

void
FabricNode::SetBitErrors(uint16_t port, double bitErrors)
{
    GetImpairments()[port].bitErrors = bitErrors;
}

bool
FabricNode::Loses(uint16_t port, const Frame& frame)
{
    Impairment& impairment = m_impairments[port];
    if (frame.time < impairment.lostUntil)
    {
        return true;
    }
    if (impairment.bitErrors == 0)
    {
        return false;
    }
    // One wrong bit makes the frame's checksum wrong: 1 - (1 - errors)^bits.
    const double bits = 8.0 * static_cast<double>(SizeOf(frame));
    const double chance = -std::expm1(bits * std::log1p(-impairment.bitErrors));
    return impairment.draws.Next() < chance;
}

} // namespace ns3::rdma
