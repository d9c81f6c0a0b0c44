#include "ns3-backend/helper/fabric-helper.h"

#include "core/model/fabric/connection_shape.h"
#include "ns3-backend/helper/congestion-table.h"
#include "ns3-backend/helper/fabric-check.h"
#include "ns3-backend/model/attributes/transport-attributes.h"
#include "ns3-backend/model/fabric/fabric-cable.h"

#include "ns3/boolean.h"
#include "ns3/integer.h"
#include "ns3/nstime.h"
#include "ns3/pointer.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>

namespace ns3::rdma
{

FabricHelper::FabricHelper(const drydock::Topology& topology)
    : m_map(topology),
      m_header(topology.transport.header.count()),
      m_ack(topology.transport.ack.count()),
      m_transport(MakeTransport(topology))
{
    const int64_t telemetry = m_transport->GetParameters().needs.telemetryBytes;
    m_header += telemetry;
    m_ack += telemetry;
    m_largestFrame = m_header + topology.transport.mtu.count();
    AddHosts(topology);
    AddSwitches(topology);
    if (!m_switches.empty())
    {
        UintegerValue cutThrough; // the same for all switches
        m_switches[0]->GetAttribute("CutThrough", cutThrough);
        m_map.set_cut_through(static_cast<int64_t>(cutThrough.Get()));
    }
    ConnectPorts();
    AddDevices();
    if (!topology.faults.empty())
    {
        m_faults = CreateObject<FaultInjector>();
        SetTransportAttributes(topology.transport, *m_faults);
        m_faults->Install(topology, &m_map, &m_nodes);
    }
}

Ptr<RdmaTransport>
FabricHelper::MakeTransport(const drydock::Topology& topology)
{
    const drydock::Transport& described = topology.transport;
    const auto transport = CreateObject<RdmaTransport>();
    transport->SetAttribute("Mtu", UintegerValue(static_cast<uint64_t>(described.mtu.count())));
    transport->SetAttribute("PacketsPerAck",
                            UintegerValue(static_cast<uint64_t>(described.packets_per_ack)));
    if (LosesFrames(topology))
    {
        transport->SetAttribute("Retransmission",
                                StringValue(std::string(ToString(described.retransmission))));
    }
    transport->SetAttribute("Reordering",
                            BooleanValue(topology.fabric.routing != drydock::Routing::kEcmp));
    if (const auto control = MakeCongestionControl(described.congestion_control))
    {
        SetTransportAttributes(described, *control);
        transport->SetAttribute("CongestionControl", PointerValue(control));
    }
    const drydock::ConnectionShape shape = *drydock::ConnectionShapeOf(topology);
    transport->SetAttribute("QueuePairsPerConnection", UintegerValue(shape.queue_pairs));
    transport->SetAttribute("SplitData", BooleanValue(shape.split_data));
    SetTransportAttributes(described, *transport);
    return transport;
}

void
FabricHelper::AddHosts(const drydock::Topology& topology)
{
    for (int id = 0; id < topology.host_count(); ++id)
    {
        const auto host = CreateObject<RdmaHost>();
        const drydock::Time latency = topology.kind_of_host(id).nics.latency;
        host->SetAttribute("NicLatency", TimeValue(PicoSeconds(latency.ps())));
        SetTransportAttributes(topology.transport, *host);
        m_nodes.push_back(host);
        m_hosts.push_back(PeekPointer(host));
    }
}

namespace
{

/// Whether the cluster file sets a ramp of marks where the congestion control uses a step.
bool
SetsRamp(const drydock::Transport& transport)
{
    return std::any_of(
        transport.attributes.begin(),
        transport.attributes.end(),
        [](const auto& attribute) { return attribute.first == "FabricSwitch::EcnMax"; });
}

} // namespace

void
FabricHelper::AddSwitches(const drydock::Topology& topology)
{
    const RdmaTransport::Parameters parameters = m_transport->GetParameters();
    const auto marks = parameters.needs.marks;
    // Data and acknowledgements are lossless; notifications may be lost.
    const uint32_t lossless = ClassBit(parameters.dataPriority) | ClassBit(parameters.ackPriority);
    for (const drydock::FabricSwitch& described : topology.fabric.switches)
    {
        const auto node = CreateObject<FabricSwitch>();
        node->SetAttribute("Buffer", IntegerValue(described.buffer.count()));
        node->SetAttribute("Routing", StringValue(std::string(ToString(topology.fabric.routing))));
        node->SetAttribute("FlowControl",
                           StringValue(std::string(ToString(topology.transport.flow_control))));
        node->SetAttribute("LosslessClasses", UintegerValue(lossless));
        node->SetAttribute("Ecn", BooleanValue(marks != CongestionControl::Needs::NO_MARKS));
        SetTransportAttributes(topology.transport, *node);
        if (marks == CongestionControl::Needs::STEP && !SetsRamp(topology.transport))
        {
            UintegerValue least;
            node->GetAttribute("EcnMin", least);
            node->SetAttribute("EcnMax", least);
        }
        m_nodes.push_back(node);
        m_switches.push_back(PeekPointer(node));
        m_tiers.push_back(static_cast<uint32_t>(std::max(described.tier, 0)));
    }
}

void
FabricHelper::ConnectPorts()
{
    for (uint32_t i = 0; i < m_nodes.size(); ++i)
    {
        m_nodes[i]->Connect(&m_map, i, m_header, m_ack);
    }
    for (uint32_t link = 0; link < m_map.link_count(); ++link)
    {
        const FabricDirection& direction = m_map.direction(link);
        m_nodes[direction.from_node]->SetPeer(direction.from_port,
                                              PeekPointer(m_nodes[direction.to_node]));
    }
    const RdmaTransport::Parameters parameters = m_transport->GetParameters();
    for (uint32_t i = 0; i < m_hosts.size(); ++i)
    {
        m_hosts[i]->Configure(static_cast<drydock::HostId>(i), &m_hosts, parameters);
    }
    for (FabricSwitch* node : m_switches)
    {
        node->Configure(&m_map, m_largestFrame);
    }
}

void
FabricHelper::AddDevices()
{
    // Cables in order give each node its devices in the order of its ports.
    for (uint32_t link = 0; link < m_map.link_count(); link += 2)
    {
        std::array<Ptr<FabricPort>, 2> ports;
        for (uint32_t end = 0; end < 2; ++end)
        {
            const FabricDirection& outgoing = m_map.direction(link + end);
            ports[end] = CreateObject<FabricPort>();
            ports[end]->SetDirection(&outgoing);
            m_nodes[outgoing.from_node]->AddDevice(ports[end]);
        }
        CreateObject<FabricCable>()->Attach(ports[0], ports[1]);
    }
}

void
FabricHelper::Install(Ptr<WindowedSimulatorImpl> simulator) const
{
    for (RdmaHost* host : m_hosts)
    {
        simulator->AddPartition(host, 0);
    }
    for (size_t i = 0; i < m_switches.size(); ++i)
    {
        simulator->AddPartition(m_switches[i], 1 + m_tiers[i]);
    }
    simulator->AssignProcesses();
    int64_t smallestFrame = std::min(m_ack, m_header + 1);
    if (m_map.cut_through() > 0)
    {
        smallestFrame = std::min(smallestFrame, m_map.cut_through());
    }
    simulator->SetAttribute("Lookahead", TimeValue(TimeStep(m_map.Lookahead(smallestFrame))));
}

} // namespace ns3::rdma
