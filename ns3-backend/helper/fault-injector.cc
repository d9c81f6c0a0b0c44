#include "ns3-backend/helper/fault-injector.h"

#include "ns3-backend/model/attributes/transport-attributes.h"
#include "ns3-backend/model/host/rdma-host.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(FaultInjector);

TypeId
FaultInjector::GetTypeId()
{
    static TypeId tid =
        AddTransportAttributes(TypeId("ns3::rdma::FaultInjector")
                                   .SetParent<Object>()
                                   .SetGroupName("Drydock")
                                   .AddConstructor<FaultInjector>(),
                               {{"RerouteTime", MakeTimeAccessor(&FaultInjector::m_rerouteTime)}});
    return tid;
}

void
FaultInjector::Install(const drydock::Topology& topology,
                       FabricMap* map,
                       const std::vector<Ptr<FabricNode>>* nodes)
{
    m_map = map;
    m_nodes = nodes;
    m_faults = topology.faults;
    m_down.resize(map->link_count());
    for (size_t i = 0; i < m_faults.size(); ++i)
    {
        Simulator::Schedule(PicoSeconds(m_faults[i].at.ps()), &FaultInjector::Apply, this, i);
    }
}

void
FaultInjector::Apply(size_t number)
{
    const drydock::Fault& fault = m_faults[number];
    for (const int cable : fault.links)
    {
        ApplyTo(fault, static_cast<uint32_t>(2 * cable));
        ApplyTo(fault, static_cast<uint32_t>(2 * cable + 1));
    }
    if (fault.kind == drydock::Fault::Kind::kDown)
    {
        Simulator::Schedule(m_rerouteTime, &FaultInjector::Reroute, this);
    }
}

void
FaultInjector::ApplyTo(const drydock::Fault& fault, uint32_t link)
{
    const FabricDirection& direction = m_map->direction(link);
    FabricNode& sender = *(*m_nodes)[direction.from_node];
    FabricNode& receiver = *(*m_nodes)[direction.to_node];
    switch (fault.kind)
    {
    case drydock::Fault::Kind::kDown:
        m_down[link] = !fault.ends;
        fault.ends ? receiver.Mend(direction.to_port, fault.at.ps())
                   : receiver.Cut(direction.to_port);
        break;
    case drydock::Fault::Kind::kRate:
        m_map->SetRate(link,
                       fault.ends ? direction.full_rate
                                  : std::min(fault.rate, direction.full_rate));
        sender.UpdateRate(direction.from_port);
        break;
    case drydock::Fault::Kind::kErrors:
        receiver.SetBitErrors(direction.to_port, fault.ends ? 0 : fault.bit_errors);
        break;
    }
}

void
FaultInjector::Reroute()
{
    m_map->Reroute(m_down);
    for (uint32_t host = 0; host < m_map->host_count(); ++host)
    {
        static_cast<RdmaHost&>(*(*m_nodes)[host]).Reroute(Simulator::Now().GetTimeStep());
    }
}

} // namespace ns3::rdma
