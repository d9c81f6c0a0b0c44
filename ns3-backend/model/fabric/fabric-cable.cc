#include "ns3-backend/model/fabric/fabric-cable.h"

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(FabricCable);

TypeId
FabricCable::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::FabricCable")
            .SetParent<Channel>()
            .SetGroupName("Drydock")
            .AddConstructor<FabricCable>()
            .AddAttribute("DataRate",
                          "Rate in each direction: that of the cable, or of a slower NIC at one "
                          "of its ends. From the cluster file.",
                          TypeId::ATTR_GET,
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&FabricCable::GetDataRate),
                          MakeDataRateChecker())
            .AddAttribute("Delay",
                          "From the first end to the second, including the latency of a switch "
                          "at the second end. From the cluster file.",
                          TypeId::ATTR_GET,
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&FabricCable::GetDelay),
                          MakeTimeChecker());
    return tid;
}

void
FabricCable::Attach(Ptr<FabricPort> a, Ptr<FabricPort> b)
{
    m_ports = {PeekPointer(a), PeekPointer(b)};
    a->SetChannel(this);
    b->SetChannel(this);
}

std::size_t
FabricCable::GetNDevices() const
{
    return m_ports.size();
}

Ptr<NetDevice>
FabricCable::GetDevice(std::size_t i) const
{
    return Ptr<NetDevice>(m_ports[i]);
}

DataRate
FabricCable::GetDataRate() const
{
    const FabricDirection& direction = m_ports[0]->GetDirection();
    return DataRate(static_cast<uint64_t>(direction.rate.bits_per_second()));
}

Time
FabricCable::GetDelay() const
{
    return PicoSeconds(m_ports[0]->GetDirection().delay);
}

} // namespace ns3::rdma
