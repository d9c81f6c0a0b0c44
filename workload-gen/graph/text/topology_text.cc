#include "workload-gen/graph/text/topology_text.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace drydock {
namespace {

using Out = std::back_insert_iterator<std::string>;

// ", NAME VALUE" if the value is stated.
template <typename Quantity>
std::string IfAny(const char* name, Quantity value) {
  return value > Quantity() ? fmt::format(", {} {}", name, ToString(value)) : "";
}

void AppendProtocol(const char* name, const CollectiveCosts::Protocol& p, std::string* text) {
  if (p == CollectiveCosts::Protocol()) return;
  fmt::format_to(Out(*text), "  {}: base {}{}{}{}{}{}{}{}{}{}{}{}{}\n", name, ToString(p.base),
                 IfAny("a warp", p.base_per_warp), IfAny("step", p.step), IfAny("pass", p.pass),
                 IfAny("a pass", p.pass_time), IfAny("a storing pass", p.pass_store),
                 IfAny("send", p.send), IfAny("copy and send", p.copy_send),
                 IfAny("reduce and send", p.reduce_send), IfAny("receive", p.receive),
                 IfAny("net slice", p.net_slice), IfAny("proxy", p.proxy), IfAny("hop", p.hop));
}

void AppendCosts(const CollectiveCosts& costs, std::string* text) {
  const std::pair<const char*, const CollectiveCosts::Protocol*> protocols[] = {
      {"simple", &costs.simple},
      {"ll", &costs.ll},
      {"ll128", &costs.ll128},
      {"nvls", &costs.nvls},
      {"nvls_registered", &costs.nvls_registered},
      {"p2p_simple", &costs.p2p_simple},
      {"p2p_ll", &costs.p2p_ll},
      {"copy_engine", &costs.copy_engine},
      {"userbuffers", &costs.userbuffers}};
  fmt::format_to(Out(*text),
                 "  collectives: link efficiency {}, several peers {}, clear to send {}\n",
                 costs.link_efficiency, costs.several_peers, ToString(costs.clear_to_send));
  for (const auto& [name, protocol] : protocols) AppendProtocol(name, *protocol, text);
}

void AppendGpu(const GpuSpec& gpu, std::string* text) {
  fmt::format_to(Out(*text), "gpu {}: {}, compute capability {}, {} SMs, {} at {}, L2 {}{}{}",
                 gpu.name, gpu.architecture, gpu.compute_capability, gpu.sms, ToString(gpu.memory),
                 ToString(gpu.memory_bandwidth), ToString(gpu.l2), IfAny("NVLink", gpu.nvlink),
                 IfAny("PCIe", gpu.pcie));
  for (int i = 0; i < kDataTypeCount; ++i) {
    *text += IfAny(DataTypeNames()[static_cast<size_t>(i)].c_str(), gpu.dense_rate[i]);
  }
  *text += '\n';
  if (gpu.has_collective_costs) AppendCosts(gpu.collectives, text);
}

void AppendScaleUp(const ScaleUp& scale_up, std::string* text) {
  static constexpr const char* kNames[] = {"nvswitch", "nvlink-mesh", "pcie"};
  fmt::format_to(Out(*text), "  scale-up: {} {}, latency {}",
                 kNames[static_cast<size_t>(scale_up.kind)], ToString(scale_up.bandwidth),
                 ToString(scale_up.latency));
  if (scale_up.switches > 0) fmt::format_to(Out(*text), ", {} switches", scale_up.switches);
  if (scale_up.multicast) *text += ", multicast";
  for (const MeshLink& link : scale_up.mesh) {
    fmt::format_to(Out(*text), ", {}-{}: {}", link.a, link.b, link.count);
  }
  *text += '\n';
}

void AppendBoard(const HostKind& kind, int compute_capability, std::string* text) {
  fmt::format_to(Out(*text),
                 "  board: {}, {} sockets, {} GPUs a PCIe switch{}{}, launch speed {}\n",
                 kind.CpuName(compute_capability), kind.board.sockets, kind.gpus_per_switch(),
                 IfAny("socket link", kind.board.socket_link), IfAny("C2C", kind.board.c2c),
                 kind.board.launch_speed);
}

void AppendHostKind(const HostKind& kind, const GpuSpec& gpu, std::string* text) {
  fmt::format_to(Out(*text), "host kind {}: {} x {}", kind.name, kind.gpus, gpu.name);
  if (kind.trays > 1) fmt::format_to(Out(*text), " in {} trays", kind.trays);
  if (kind.limits.watts > 0) fmt::format_to(Out(*text), ", limited to {} W", kind.limits.watts);
  if (kind.limits.mhz > 0) fmt::format_to(Out(*text), ", limited to {} MHz", kind.limits.mhz);
  if (!kind.nccl_topology_file.empty()) {
    fmt::format_to(Out(*text), ", NCCL topology {}", kind.nccl_topology_file);
  }
  *text += '\n';
  AppendScaleUp(kind.scale_up, text);
  AppendBoard(kind, gpu.compute_capability, text);
  const Nics& nics = kind.nics;
  if (nics.count == 0) return;
  fmt::format_to(Out(*text), "  NICs: {} x {}, PCIe gen{} x{}, latency {}, a message {}\n",
                 nics.count, ToString(nics.rate), nics.pcie_generation, nics.pcie_lanes,
                 ToString(nics.latency), ToString(nics.message));
}

// One line for each run of equal hosts.
void AppendHosts(const Topology& topology, std::string* text) {
  const std::vector<int>& hosts = topology.hosts;
  for (size_t first = 0, end = 0; first < hosts.size(); first = end) {
    while (end < hosts.size() && hosts[end] == hosts[first]) ++end;
    const std::string& kind = topology.host_kinds[static_cast<size_t>(hosts[first])].name;
    fmt::format_to(Out(*text), "hosts {}-{}: {}\n", first, end - 1, kind);
  }
}

std::string EndText(const LinkEnd& end, const Fabric& fabric) {
  return end.is_switch ? fabric.switches[static_cast<size_t>(end.index)].name
                       : fmt::format("host{}/nic{}", end.index, end.nic);
}

void AppendFabric(const Fabric& fabric, std::string* text) {
  fmt::format_to(Out(*text), "fabric {}: routing {}, {} switches, {} cables",
                 fabric.kind.empty() ? "none" : fabric.kind, ToString(fabric.routing),
                 fabric.switches.size(), fabric.links.size());
  if (fabric.sharp) fmt::format_to(Out(*text), ", SHARP {}", ToString(fabric.sharp->latency));
  *text += '\n';
  for (const FabricSwitch& each : fabric.switches) {
    fmt::format_to(Out(*text), "switch {}: tier {}, latency {}, buffer {}\n", each.name, each.tier,
                   ToString(each.latency), ToString(each.buffer));
  }
  for (size_t i = 0; i < fabric.links.size(); ++i) {
    const FabricLink& link = fabric.links[i];
    fmt::format_to(Out(*text), "cable {}: {} to {}, {}, {}\n", i, EndText(link.a, fabric),
                   EndText(link.b, fabric), ToString(link.rate), ToString(link.delay));
  }
}

void AppendTransport(const Transport& transport, std::string* text) {
  fmt::format_to(Out(*text),
                 "transport {}: MTU {}, header {}, acknowledgement {} for {} packets, congestion "
                 "control {}, flow control {}, retransmission {}\n",
                 ToString(transport.kind), ToString(transport.mtu), ToString(transport.header),
                 ToString(transport.ack), transport.packets_per_ack,
                 ToString(transport.congestion_control), ToString(transport.flow_control),
                 ToString(transport.retransmission));
  for (const auto& [name, value] : transport.attributes) {
    fmt::format_to(Out(*text), "attribute {}: {}\n", name, value);
  }
}

std::string ChangeText(const Fault& fault) {
  switch (fault.kind) {
    case Fault::Kind::kDown:
      return "down";
    case Fault::Kind::kRate:
      return "rate " + ToString(fault.rate);
    case Fault::Kind::kErrors:
      return fmt::format("bit errors {}", fault.bit_errors);
  }
  return "";
}

void AppendFaults(const Topology& topology, const Variation& variation, std::string* text) {
  for (const Fault& fault : topology.faults) {
    fmt::format_to(Out(*text), "fault at {}: {} {}, cables", ToString(fault.at), ChangeText(fault),
                   fault.ends ? "ends" : "begins");
    for (const int link : fault.links) fmt::format_to(Out(*text), " {}", link);
    *text += '\n';
  }
  for (const SlowGpu& slow : variation.slow_gpus) {
    fmt::format_to(Out(*text), "slow GPU at {}: host{}{}, {} times as long\n", ToString(slow.at),
                   slow.host, slow.gpu < 0 ? "" : fmt::format("/gpu{}", slow.gpu), slow.slowdown);
  }
  const Jitter& jitter = variation.jitter;
  if (jitter == Jitter()) return;
  fmt::format_to(Out(*text), "jitter: compute {}, call {}, seed {}\n", jitter.compute,
                 ToString(jitter.call), jitter.seed);
}

void AppendStated(const char* name, const StatedValue& value, const std::string& unit,
                  std::string* text) {
  fmt::format_to(Out(*text), "  {}: {}{} [{}]\n", name, value.value, unit, value.source);
}

void AppendStated(const char* name, const std::optional<StatedValue>& value,
                  const std::string& unit, std::string* text) {
  if (value) AppendStated(name, *value, unit, text);
}

void AppendCost(const Cost& cost, std::string* text) {
  *text += "cost\n";
  const std::string amount = " " + cost.currency;
  AppendStated("rent of a GPU", cost.gpu_hour, amount + "/h", text);
  AppendStated("rent of a host", cost.host_hour, amount + "/h", text);
  if (const auto& capital = cost.capital) {
    AppendStated("price of a host", capital->host, amount, text);
    AppendStated("price of a switch", capital->fabric_switch, amount, text);
    AppendStated("price of a cable's end", capital->optics, amount, text);
    AppendStated("years", capital->years, "", text);
  }
  if (const auto& power = cost.power) {
    AppendStated("power of a GPU", power->gpu, " W", text);
    AppendStated("power of a host", power->host, " W", text);
    AppendStated("power of a switch", power->fabric_switch, " W", text);
    AppendStated("power of a cable's end", power->optics, " W", text);
    AppendStated("PUE", power->pue, "", text);
  }
  AppendStated("electricity", cost.electricity, amount + "/kWh", text);
}

void AppendStorage(const Storage& storage, std::string* text) {
  fmt::format_to(Out(*text), "storage: read {}, write {}", ToString(storage.read),
                 ToString(storage.write));
  if (storage.host > Bandwidth()) {
    fmt::format_to(Out(*text), ", of a host {}", ToString(storage.host));
  }
  fmt::format_to(Out(*text), " [{}]\n", storage.source);
}

}  // namespace

std::string TopologyText(const Topology& topology, const Variation& variation) {
  std::string text = fmt::format("cluster {}: {} hosts, {} GPUs\n", topology.name,
                                 topology.host_count(), topology.gpu_count());
  for (const GpuSpec& gpu : topology.gpus) AppendGpu(gpu, &text);
  for (const HostKind& kind : topology.host_kinds) {
    AppendHostKind(kind, topology.gpus[static_cast<size_t>(kind.gpu)], &text);
  }
  AppendHosts(topology, &text);
  AppendFabric(topology.fabric, &text);
  AppendTransport(topology.transport, &text);
  for (const auto& [name, value] : topology.nccl_settings) {
    fmt::format_to(Out(text), "setting {}: {}\n", name, value);
  }
  AppendFaults(topology, variation, &text);
  if (topology.storage) AppendStorage(*topology.storage, &text);
  if (topology.cost) AppendCost(*topology.cost, &text);
  return text;
}

}  // namespace drydock
