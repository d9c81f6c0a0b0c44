#include "ns3-backend/model/fabric/egress.h"

#include "ns3-backend/model/fabric/fabric-node.h"

namespace ns3::rdma
{

LinkMailbox::LinkMailbox(FabricNode* receiver, uint16_t port)
    : Mailbox(receiver, port),
      m_node(receiver)
{
}

void
LinkMailbox::Deliver()
{
    m_node->Accept(static_cast<uint16_t>(GetName()), frames, telemetry);
}

int64_t
LinkMailbox::EarliestTime() const
{
    return frames.front().time;
}

void
LinkMailbox::Pack(std::string* parcel)
{
    drydock::Pack(frames, parcel);
    drydock::Pack(telemetry, parcel);
    frames.clear();
    telemetry.clear();
}

} // namespace ns3::rdma
