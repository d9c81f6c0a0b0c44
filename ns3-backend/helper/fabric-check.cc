#include "ns3-backend/helper/fabric-check.h"

#include "core/model/fabric/connection_shape.h"
#include "core/model/fabric/transport_attributes.h"
#include "ns3-backend/helper/congestion-table.h"
#include "ns3-backend/model/attributes/transport-attributes.h"
#include "ns3-backend/model/fabric/fabric-switch.h"
#include "ns3-backend/model/wire/fabric-map.h"

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

/// Returns what is wrong with a cable, or an empty text.
std::string
CableError(const Topology& topology, const FabricLink& link)
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
    return sameNode ? "both ends are at the same node" : "";
}

/// Returns what is wrong with the transport, or an empty text.
std::string
TransportError(const Topology& topology)
{
    const Transport& transport = topology.transport;
    constexpr int64_t largestFrame = 65535;
    if (topology.fabric.routing != drydock::Routing::kEcmp && LosesFrames(topology) &&
        transport.retransmission != drydock::Retransmission::kSelectiveRepeat)
    {
        return fmt::format("with routing '{}' packets overtake each other; set retransmission to "
                           "'selective-repeat', because 'go-back-n' takes overtaken packets for "
                           "lost ones",
                           ToString(topology.fabric.routing));
    }
    if (transport.mtu.count() < 1 || transport.mtu.count() > largestFrame)
    {
        return fmt::format("the MTU must be 1 to {} bytes, not {}",
                           largestFrame,
                           transport.mtu.count());
    }
    if (transport.header.count() < 0 || transport.ack.count() < 1)
    {
        return "header and ack must be more than 0 bytes";
    }
    if (transport.packets_per_ack < 1)
    {
        return fmt::format("packets_per_ack must be at least 1, not {}", transport.packets_per_ack);
    }
    const Status attributes = drydock::CheckTransportAttributes(transport.attributes);
    return attributes.ok() ? "" : attributes.error().message();
}

/// Returns the bytes that telemetry adds to each frame.
int64_t
TelemetryBytes(const Transport& transport)
{
    const Ptr<CongestionControl> control = MakeCongestionControl(transport.congestion_control);
    if (control == nullptr)
    {
        return 0;
    }
    SetTransportAttributes(transport, *control);
    return control->GetNeeds().telemetryBytes;
}

/// Returns an empty text if packets have room for the telemetry of all switches on their path.
std::string
TelemetryError(const Topology& topology)
{
    if (TelemetryBytes(topology.transport) == 0)
    {
        return "";
    }
    const uint32_t hops = FabricMap(topology).MaxHops();
    return hops <= Telemetry::MAX_HOPS
               ? ""
               : fmt::format("congestion control '{}' works over at most {} switches in a row; the "
                             "longest path of this fabric has {}",
                             ToString(topology.transport.congestion_control),
                             Telemetry::MAX_HOPS,
                             hops);
}

/// Returns an empty text if the buffer of each switch suffices for its flow control.
std::string
BufferError(const Topology& topology)
{
    const Transport& transport = topology.transport;
    if (transport.flow_control == drydock::FlowControl::kIdeal)
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
        const bool pauses = transport.flow_control == drydock::FlowControl::kPfc;
        const int64_t needed = pauses ? headroom + largest : largest;
        if (described.buffer.count() < needed)
        {
            return fmt::format("switch {}: with flow_control {} its buffer must be at least {} "
                               "bytes ({}), not {}",
                               described.name,
                               ToString(transport.flow_control),
                               needed,
                               pauses ? "the headroom of its ports" : "a packet",
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
    return topology.transport.flow_control == drydock::FlowControl::kNone ||
           topology.transport.flow_control == drydock::FlowControl::kTrim ||
           std::any_of(topology.faults.begin(), topology.faults.end(), loses);
}

Status
ValidateFabric(const Topology& topology)
{
    std::vector<Diagnostic> errors;
    if (const std::string error = TransportError(topology); !error.empty())
    {
        errors.push_back({"transport: " + error, {}, {}});
    }
    if (const auto shape = drydock::ConnectionShapeOf(topology); !shape.ok())
    {
        errors.push_back({"nccl: " + shape.error().message(), {}, {}});
    }
    for (size_t i = 0; i < topology.fabric.links.size() && errors.size() < 10; ++i)
    {
        const FabricLink& link = topology.fabric.links[i];
        if (const std::string error = CableError(topology, link); !error.empty())
        {
            errors.push_back({fmt::format("fabric link {} ({} to {}): {}",
                                          i,
                                          NameOf(topology, link.a),
                                          NameOf(topology, link.b),
                                          error),
                              {},
                              {}});
        }
    }
    if (!errors.empty())
    {
        return Error(std::move(errors));
    }
    if (const std::string error = TelemetryError(topology); !error.empty())
    {
        return Error(error);
    }
    if (const std::string error = BufferError(topology); !error.empty())
    {
        return Error(error);
    }
    return CheckConnected(topology);
}

} // namespace ns3::rdma
