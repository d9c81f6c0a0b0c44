// What a Topology must fulfil before a FabricMap is made of it.
#include "core/model/fabric/connection_shape.h"
#include "ns3-backend/model/congestion/congestion-control.h"
#include "ns3-backend/model/wire/fabric-map.h"
#include "ns3-backend/model/fabric/fabric-switch.h"
#include "ns3-backend/helper/transport-attributes.h"

#include <fmt/format.h>

#include <algorithm>

namespace ns3::rdma
{
namespace
{

using drydock::Diagnostic;
using drydock::Error;
using drydock::FabricLink;
using drydock::LinkEnd;
using drydock::Status;
using drydock::Topology;
using drydock::Transport;

bool
Exists(const Topology& topology, const LinkEnd& end)
{
    if (end.is_switch)
    {
        return end.index >= 0 && static_cast<size_t>(end.index) < topology.fabric.switches.size();
    }
    return end.index >= 0 && end.index < topology.host_count() && end.nic >= 0 &&
           end.nic < topology.kind_of_host(end.index).nics.count;
}

std::string
NameOf(const Topology& topology, const LinkEnd& end)
{
    if (!end.is_switch)
    {
        return fmt::format("host {} NIC {}", end.index, end.nic);
    }
    const auto index = static_cast<size_t>(end.index);
    return index < topology.fabric.switches.size() ? topology.fabric.switches[index].name
                                                   : fmt::format("switch {}", end.index);
}

/// What is wrong with a cable, empty if nothing.
std::string
CableFault(const Topology& topology, const FabricLink& link)
{
    for (const LinkEnd& end : {link.a, link.b})
    {
        if (!Exists(topology, end))
        {
            return NameOf(topology, end) + " does not exist";
        }
        if (!end.is_switch && topology.kind_of_host(end.index).nics.rate.bits_per_second() <= 0)
        {
            return NameOf(topology, end) + " has no rate";
        }
    }
    if (link.rate.bits_per_second() <= 0)
    {
        return "its rate must be above 0";
    }
    if (link.delay < drydock::Time())
    {
        return "its delay must not be negative";
    }
    const bool sameNode = link.a.is_switch == link.b.is_switch && link.a.index == link.b.index;
    return sameNode ? "it leads back to where it starts" : "";
}

/// What is wrong with the transport, empty if nothing.
std::string
TransportFault(const Topology& topology)
{
    const Transport& transport = topology.transport;
    constexpr int64_t largestFrame = 65535;
    if (FindCongestionControl(transport.congestion_control) == nullptr)
    {
        return fmt::format("congestion control '{}' is not known to the packet network; valid "
                           "values are: {}",
                           transport.congestion_control,
                           CongestionControlNames());
    }
    if (topology.fabric.routing != "ecmp" && LosesFrames(topology) &&
        transport.retransmission != "selective-repeat")
    {
        return fmt::format("with routing '{}' packets overtake each other, which a receiver that "
                           "wants them in order takes for losses: it needs retransmission "
                           "'selective-repeat'",
                           topology.fabric.routing);
    }
    if (transport.mtu.count() < 1 || transport.mtu.count() > largestFrame)
    {
        return fmt::format("the MTU must be 1 to {} bytes, not {}",
                           largestFrame,
                           transport.mtu.count());
    }
    if (transport.header.count() < 0 || transport.ack.count() < 1)
    {
        return "header and acknowledgement must have a size";
    }
    if (transport.packets_per_ack < 1)
    {
        return fmt::format("packets_per_ack must be at least 1, not {}", transport.packets_per_ack);
    }
    return CheckTransportAttributes(transport);
}

/// What telemetry adds to each frame, bytes.
int64_t
TelemetryBytes(const Transport& transport)
{
    const auto* choice = FindCongestionControl(transport.congestion_control);
    if (choice->make == nullptr)
    {
        return 0;
    }
    const Ptr<CongestionControl> control = choice->make();
    SetTransportAttributes(transport, *control);
    return control->GetNeeds().telemetryBytes;
}

/// Whether packets have room for what switches write into them, empty if so.
std::string
TelemetryFault(const Topology& topology)
{
    if (TelemetryBytes(topology.transport) == 0)
    {
        return "";
    }
    const uint32_t hops = FabricMap(topology).MostHops();
    return hops <= Telemetry::MOST_HOPS
               ? ""
               : fmt::format("congestion control '{}' works over at most {} switches in a row; the "
                             "longest way of this fabric has {}",
                             topology.transport.congestion_control,
                             Telemetry::MOST_HOPS,
                             hops);
}

/// Whether each switch has memory for what it promises, empty if so.
std::string
BufferFault(const Topology& topology)
{
    const Transport& transport = topology.transport;
    if (transport.flow_control == "ideal")
    {
        return "";
    }
    const FabricMap map(topology);
    const int64_t telemetry = TelemetryBytes(transport);
    const int64_t largest = transport.header.count() + telemetry + transport.mtu.count();
    for (uint32_t i = 0; i < map.switch_count(); ++i)
    {
        const drydock::FabricSwitch& described = topology.fabric.switches[i];
        int64_t headroom = 0;
        for (const uint32_t link : map.ports_of(map.host_count() + i))
        {
            headroom += FabricSwitch::HeadroomOf(map.direction(link ^ 1),
                                                 map.direction(link),
                                                 largest,
                                                 transport.ack.count() + telemetry);
        }
        const int64_t needed = transport.flow_control == "pfc" ? headroom + largest : largest;
        if (described.buffer.count() < needed)
        {
            return fmt::format("switch {}: with flow_control {} its buffer must be at least {} "
                               "bytes ({}), not {}",
                               described.name,
                               transport.flow_control,
                               needed,
                               transport.flow_control == "pfc" ? "the headroom of its ports"
                                                               : "a packet",
                               described.buffer.count());
        }
    }
    return "";
}

} // namespace

bool
LosesFrames(const Topology& topology)
{
    const auto loses = [](const drydock::Fault& fault) {
        return fault.kind != drydock::Fault::Kind::kRate;
    };
    return topology.transport.flow_control == "none" || topology.transport.flow_control == "trim" ||
           std::any_of(topology.faults.begin(), topology.faults.end(), loses);
}

Status
ValidateFabric(const Topology& topology)
{
    std::vector<Diagnostic> faults;
    if (const std::string fault = TransportFault(topology); !fault.empty())
    {
        faults.push_back({"transport: " + fault, {}, {}});
    }
    if (const auto shape = drydock::ConnectionShapeOf(topology); !shape.ok())
    {
        faults.push_back({"nccl: " + shape.error().message(), {}, {}});
    }
    for (size_t i = 0; i < topology.fabric.links.size() && faults.size() < 10; ++i)
    {
        const FabricLink& link = topology.fabric.links[i];
        if (const std::string fault = CableFault(topology, link); !fault.empty())
        {
            faults.push_back({fmt::format("fabric link {} ({} to {}): {}",
                                          i,
                                          NameOf(topology, link.a),
                                          NameOf(topology, link.b),
                                          fault),
                              {},
                              {}});
        }
    }
    if (!faults.empty())
    {
        return Error(std::move(faults));
    }
    if (const std::string fault = TelemetryFault(topology); !fault.empty())
    {
        return Error(fault);
    }
    if (const std::string fault = BufferFault(topology); !fault.empty())
    {
        return Error(fault);
    }
    return CheckConnected(topology);
}

} // namespace ns3::rdma
