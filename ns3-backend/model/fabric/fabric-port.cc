#include "ns3-backend/model/fabric/fabric-port.h"

#include "ns3/mac48-address.h"
#include "ns3/node.h"
#include "ns3/trace-source-accessor.h"

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(FabricPort);

TypeId
FabricPort::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::FabricPort")
            .SetParent<NetDevice>()
            .SetGroupName("Drydock")
            .AddConstructor<FabricPort>()
            .AddTraceSource("Transmit",
                            "A frame begins on the wire: the frame (its time is that of its "
                            "arrival at the peer) and the present time, in picoseconds. With "
                            "several threads, sinks of different nodes are called concurrently.",
                            MakeTraceSourceAccessor(&FabricPort::m_transmitTrace),
                            "ns3::rdma::FabricPort::TransmitTracedCallback");
    return tid;
}

void
FabricPort::DoDispose()
{
    m_channel = nullptr;
    m_node = nullptr;
    NetDevice::DoDispose();
}

void
FabricPort::SetDirection(const FabricDirection* outgoing)
{
    m_direction = outgoing;
}

void
FabricPort::SetChannel(Ptr<Channel> channel)
{
    m_channel = channel;
}

void
FabricPort::SetIfIndex(const uint32_t index)
{
    m_index = index;
}

uint32_t
FabricPort::GetIfIndex() const
{
    return m_index;
}

Ptr<Channel>
FabricPort::GetChannel() const
{
    return m_channel;
}

void
FabricPort::SetAddress(Address)
{
}

Address
FabricPort::GetAddress() const
{
    // Locally administered: the node and the number of the port.
    const auto node = static_cast<uint32_t>(m_direction->from_node);
    const uint8_t bytes[6] = {0x02,
                              static_cast<uint8_t>(node >> 16),
                              static_cast<uint8_t>(node >> 8),
                              static_cast<uint8_t>(node),
                              static_cast<uint8_t>(m_direction->from_port >> 8),
                              static_cast<uint8_t>(m_direction->from_port)};
    Mac48Address address;
    address.CopyFrom(bytes);
    return address;
}

bool
FabricPort::SetMtu(const uint16_t mtu)
{
    m_mtu = mtu;
    return true;
}

uint16_t
FabricPort::GetMtu() const
{
    return m_mtu;
}

bool
FabricPort::IsLinkUp() const
{
    return true;
}

void
FabricPort::AddLinkChangeCallback(Callback<void>)
{
}

bool
FabricPort::IsBroadcast() const
{
    return false;
}

Address
FabricPort::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
FabricPort::IsMulticast() const
{
    return false;
}

Address
FabricPort::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address
FabricPort::GetMulticast(Ipv6Address address) const
{
    return Mac48Address::GetMulticast(address);
}

bool
FabricPort::IsBridge() const
{
    return false;
}

bool
FabricPort::IsPointToPoint() const
{
    return true;
}

bool
FabricPort::Send(Ptr<Packet>, const Address&, uint16_t)
{
    return false;
}

bool
FabricPort::SendFrom(Ptr<Packet>, const Address&, const Address&, uint16_t)
{
    return false;
}

Ptr<Node>
FabricPort::GetNode() const
{
    return Ptr<Node>(m_node);
}

void
FabricPort::SetNode(Ptr<Node> node)
{
    m_node = PeekPointer(node);
}

bool
FabricPort::NeedsArp() const
{
    return false;
}

void
FabricPort::SetReceiveCallback(ReceiveCallback)
{
}

void
FabricPort::SetPromiscReceiveCallback(PromiscReceiveCallback)
{
}

bool
FabricPort::SupportsSendFrom() const
{
    return false;
}

} // namespace ns3::rdma
