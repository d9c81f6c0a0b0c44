#include "ns3-backend/model/fabric-node.h"

#include "core/base/check.h"

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(FabricNode);

LinkMailbox::LinkMailbox(FabricNode* receiver, uint16_t port)
    : Mailbox(receiver),
      m_node(receiver),
      m_port(port)
{
}

void
LinkMailbox::Deliver()
{
    m_node->Accept(m_port, frames);
}

TypeId
FabricNode::GetTypeId()
{
    static TypeId tid = TypeId("ns3::rdma::FabricNode").SetParent<Node>().SetGroupName("Drydock");
    return tid;
}

void
FabricNode::Connect(const FabricMap* map, uint32_t node, int64_t header, int64_t ack)
{
    m_map = map;
    m_node = node;
    m_headerSize = header;
    m_ackSize = ack;
    const std::vector<uint32_t>& links = map->GetPorts(node);
    m_egress.resize(links.size());
    m_arriving.resize(links.size());
    m_mailboxes.resize(links.size());
    for (size_t port = 0; port < links.size(); ++port)
    {
        const FabricDirection& direction = map->GetDirection(links[port]);
        m_egress[port].direction = &direction;
        m_egress[port].delay = direction.delay;
        m_egress[port].psPerByte = direction.exact ? direction.psPerByte : 0;
    }
}

void
FabricNode::SetPeer(uint16_t port, FabricNode* peer)
{
    m_mailboxes[port] = std::make_unique<LinkMailbox>(peer, m_egress[port].direction->toPort);
    m_egress[port].mailbox = m_mailboxes[port].get();
}

void
FabricNode::Start()
{
    for (uint16_t port = 0; port < GetNPorts(); ++port)
    {
        const auto device = DynamicCast<FabricPort>(GetDevice(port));
        m_egress[port].listener = device->HasListener() ? PeekPointer(device) : nullptr;
    }
}

void
FabricNode::Accept(uint16_t port, std::vector<Frame>& frames)
{
    CHECK_NOTE(frames.front().time >= m_now, "a frame from before the window");
    Fifo<Frame>& arriving = m_arriving[port];
    if (arriving.Empty())
    {
        m_events.Push({frames.front().time, KeyOf(ARRIVAL, port)});
    }
    arriving.Take(frames);
}

} // namespace ns3::rdma
