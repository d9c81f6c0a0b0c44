#include "core/schema/artefacts/topology_codec.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/schema/artefacts/gpu_codec.h"
#include "core/schema/artefacts/protocol.h"
#include "core/schema/artefacts/topology.pb.h"
#include "core/schema/artefacts/transfer_codec.h"
#include "core/schema/cluster/gpu_file.h"
#include "core/schema/cluster/topology_check.h"

namespace drydock {
namespace {

constexpr const char* kKind = "topology";
constexpr const char* kMaker = "workload-gen";
constexpr const char* kClusterText = "cluster.topo";

using Settings = std::vector<std::pair<std::string, std::string>>;
using SettingsField = google::protobuf::RepeatedPtrField<proto::NamedText>;

// The texts that the topology follows from, in the order of the manifest.
std::vector<Provenance::Input> InputsOf(const ClusterInput& cluster) {
  std::vector<Provenance::Input> inputs = {{kClusterText, Sha256(cluster.yaml)}};
  for (const auto& [name, text] : cluster.files) inputs.push_back({name, Sha256(text)});
  return inputs;
}

void EncodeSettings(const Settings& from, SettingsField* to) {
  for (const auto& [name, text] : from) {
    proto::NamedText* added = to->Add();
    added->set_name(name);
    added->set_text(text);
  }
}

Settings DecodeSettings(const SettingsField& from) {
  Settings to;
  for (const proto::NamedText& each : from) to.emplace_back(each.name(), each.text());
  return to;
}

// ---- Kinds of hosts ---------------------------------------------------------------------------

void EncodeScaleUp(const ScaleUp& from, proto::Topology::ScaleUp* to) {
  to->set_kind(static_cast<uint32_t>(from.kind));
  to->set_switches(from.switches);
  to->set_bits_per_second(from.bandwidth.bits_per_second());
  to->set_latency_ps(from.latency.ps());
  to->set_multicast(from.multicast);
  for (const MeshLink& link : from.mesh) {
    proto::Topology::MeshLink* added = to->add_mesh();
    added->set_a(link.a);
    added->set_b(link.b);
    added->set_count(link.count);
  }
}

ScaleUp DecodeScaleUp(const proto::Topology::ScaleUp& from) {
  ScaleUp to{protocol::ToEnum<ScaleUpKind>(from.kind()),
             from.switches(),
             Bandwidth::BitsPerSecond(from.bits_per_second()),
             Time::Ps(from.latency_ps()),
             from.multicast(),
             {}};
  for (const auto& link : from.mesh()) to.mesh.push_back({link.a(), link.b(), link.count()});
  return to;
}

void EncodeBoard(const Board& from, proto::Topology::Board* to) {
  to->set_cpu(from.cpu);
  to->set_sockets(from.sockets);
  to->set_gpus_per_switch(from.gpus_per_switch);
  to->set_socket_link_bits_per_second(from.socket_link.bits_per_second());
  to->set_c2c_bits_per_second(from.c2c.bits_per_second());
  to->set_launch_speed(from.launch_speed);
}

Board DecodeBoard(const proto::Topology::Board& from) {
  return {from.cpu(),
          from.sockets(),
          from.gpus_per_switch(),
          Bandwidth::BitsPerSecond(from.socket_link_bits_per_second()),
          Bandwidth::BitsPerSecond(from.c2c_bits_per_second()),
          from.launch_speed()};
}

void EncodeNics(const Nics& from, proto::Topology::Nics* to) {
  to->set_count(from.count);
  to->set_bits_per_second(from.rate.bits_per_second());
  to->set_pcie_generation(from.pcie_generation);
  to->set_pcie_lanes(from.pcie_lanes);
  to->set_latency_ps(from.latency.ps());
  to->set_message_ps(from.message.ps());
}

Nics DecodeNics(const proto::Topology::Nics& from) {
  return {from.count(),
          Bandwidth::BitsPerSecond(from.bits_per_second()),
          from.pcie_generation(),
          from.pcie_lanes(),
          Time::Ps(from.latency_ps()),
          Time::Ps(from.message_ps())};
}

void EncodeHostKind(const HostKind& from, proto::Topology::HostKind* to) {
  to->set_name(from.name);
  to->set_gpu(static_cast<uint32_t>(from.gpu));
  to->set_gpus(from.gpus);
  to->set_trays(from.trays);
  EncodeScaleUp(from.scale_up, to->mutable_scale_up());
  EncodeBoard(from.board, to->mutable_board());
  EncodeHostMemory(from.memory, to->mutable_memory());
  EncodeNics(from.nics, to->mutable_nics());
  to->set_nccl_topology(from.nccl_topology_file);
  to->set_power_limit_watts(from.limits.watts);
  to->set_clock_limit_mhz(from.limits.mhz);
}

HostKind DecodeHostKind(const proto::Topology::HostKind& from) {
  HostKind to;
  to.name = from.name();
  to.gpu = static_cast<int>(from.gpu());
  to.gpus = from.gpus();
  to.trays = from.trays();
  to.scale_up = DecodeScaleUp(from.scale_up());
  to.board = DecodeBoard(from.board());
  to.memory = DecodeHostMemory(from.memory());
  to.nics = DecodeNics(from.nics());
  to.nccl_topology_file = from.nccl_topology();
  to.limits = {from.power_limit_watts(), from.clock_limit_mhz()};
  return to;
}

// ---- Fabric -----------------------------------------------------------------------------------

int NicOf(const LinkEnd& end) { return end.is_switch ? -1 : end.nic; }

LinkEnd EndOf(uint32_t index, int nic) {
  return {nic == -1, static_cast<int>(index), nic == -1 ? 0 : nic};
}

void EncodeSwitches(const Fabric& from, proto::Topology* to) {
  for (const FabricSwitch& each : from.switches) {
    to->add_switch_name(each.name);
    to->add_switch_tier(each.tier);
    to->add_switch_latency_ps(each.latency.ps());
    to->add_switch_buffer_bytes(each.buffer.count());
  }
}

void EncodeLinks(const Fabric& from, proto::Topology* to) {
  std::map<std::pair<Bandwidth, Time>, uint32_t> cables;
  for (const FabricLink& link : from.links) {
    const auto next = static_cast<uint32_t>(cables.size());
    const auto [cable, is_new] = cables.try_emplace({link.rate, link.delay}, next);
    if (is_new) {
      to->add_cable_bits_per_second(link.rate.bits_per_second());
      to->add_cable_delay_ps(link.delay.ps());
    }
    to->add_link_a(static_cast<uint32_t>(link.a.index));
    to->add_link_a_nic(NicOf(link.a));
    to->add_link_b(static_cast<uint32_t>(link.b.index));
    to->add_link_b_nic(NicOf(link.b));
    to->add_link_cable(cable->second);
  }
}

// Returns false if columns differ in length.
bool DecodeSwitches(const proto::Topology& from, Fabric* to) {
  const int count = from.switch_name_size();
  if (from.switch_tier_size() != count || from.switch_latency_ps_size() != count ||
      from.switch_buffer_bytes_size() != count) {
    return false;
  }
  to->switches.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    to->switches.push_back({from.switch_name(i), from.switch_tier(i),
                            Time::Ps(from.switch_latency_ps(i)),
                            Bytes(from.switch_buffer_bytes(i))});
  }
  return true;
}

// Returns false if columns differ in length or a cable is not there.
bool DecodeLinks(const proto::Topology& from, Fabric* to) {
  const int count = from.link_a_size();
  if (from.link_a_nic_size() != count || from.link_b_size() != count ||
      from.link_b_nic_size() != count || from.link_cable_size() != count ||
      from.cable_bits_per_second_size() != from.cable_delay_ps_size()) {
    return false;
  }
  to->links.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    const uint32_t number = from.link_cable(i);
    if (number >= static_cast<uint32_t>(from.cable_delay_ps_size())) return false;
    const auto cable = static_cast<int>(number);
    to->links.push_back({EndOf(from.link_a(i), from.link_a_nic(i)),
                         EndOf(from.link_b(i), from.link_b_nic(i)),
                         Bandwidth::BitsPerSecond(from.cable_bits_per_second(cable)),
                         Time::Ps(from.cable_delay_ps(cable))});
  }
  return true;
}

void EncodeFabric(const Fabric& from, proto::Topology* to) {
  to->set_fabric_kind(from.kind);
  to->set_routing(std::string(ToString(from.routing)));
  if (from.sharp) to->set_sharp_latency_ps(from.sharp->latency.ps());
  EncodeSwitches(from, to);
  EncodeLinks(from, to);
}

bool DecodeFabric(const proto::Topology& from, Fabric* to) {
  to->kind = from.fabric_kind();
  to->routing = protocol::ToEnum<Routing>(from.routing(), RoutingNames());
  if (from.has_sharp_latency_ps()) to->sharp = Sharp{Time::Ps(from.sharp_latency_ps())};
  return DecodeSwitches(from, to) && DecodeLinks(from, to);
}

// ---- Transport, faults, variation -------------------------------------------------------------

void EncodeTransport(const Transport& from, proto::Topology::Transport* to) {
  to->set_kind(std::string(ToString(from.kind)));
  to->set_mtu_bytes(from.mtu.count());
  to->set_header_bytes(from.header.count());
  to->set_ack_bytes(from.ack.count());
  to->set_packets_per_ack(from.packets_per_ack);
  to->set_congestion_control(std::string(ToString(from.congestion_control)));
  to->set_flow_control(std::string(ToString(from.flow_control)));
  to->set_retransmission(std::string(ToString(from.retransmission)));
  EncodeSettings(from.attributes, to->mutable_attributes());
}

Transport DecodeTransport(const proto::Topology::Transport& from) {
  return {protocol::ToEnum<TransportKind>(from.kind(), TransportKindNames()),
          Bytes(from.mtu_bytes()),
          Bytes(from.header_bytes()),
          Bytes(from.ack_bytes()),
          from.packets_per_ack(),
          protocol::ToEnum<CongestionControl>(from.congestion_control(), CongestionControlNames()),
          protocol::ToEnum<FlowControl>(from.flow_control(), FlowControlNames()),
          protocol::ToEnum<Retransmission>(from.retransmission(), RetransmissionNames()),
          DecodeSettings(from.attributes())};
}

void EncodeFault(const Fault& from, proto::Topology::Fault* to) {
  to->set_at_ps(from.at.ps());
  to->set_kind(static_cast<uint32_t>(from.kind));
  to->set_ends(from.ends);
  to->mutable_links()->Add(from.links.begin(), from.links.end());
  to->set_bits_per_second(from.rate.bits_per_second());
  to->set_bit_errors(from.bit_errors);
}

Fault DecodeFault(const proto::Topology::Fault& from) {
  return {Time::Ps(from.at_ps()),
          protocol::ToEnum<Fault::Kind>(from.kind()),
          from.ends(),
          {from.links().begin(), from.links().end()},
          Bandwidth::BitsPerSecond(from.bits_per_second()),
          from.bit_errors()};
}

void EncodeVariation(const Variation& from, proto::Topology* to) {
  for (const SlowGpu& slow : from.slow_gpus) {
    proto::Topology::SlowGpu* added = to->add_slow_gpus();
    added->set_at_ps(slow.at.ps());
    added->set_host(static_cast<uint32_t>(slow.host));
    added->set_gpu(slow.gpu);
    added->set_slowdown(slow.slowdown);
  }
  to->set_jitter_compute(from.jitter.compute);
  to->set_jitter_call_ps(from.jitter.call.ps());
  to->set_jitter_seed(from.jitter.seed);
}

Variation DecodeVariation(const proto::Topology& from) {
  Variation to;
  for (const auto& slow : from.slow_gpus()) {
    to.slow_gpus.push_back(
        {Time::Ps(slow.at_ps()), static_cast<int>(slow.host()), slow.gpu(), slow.slowdown()});
  }
  to.jitter = {from.jitter_compute(), Time::Ps(from.jitter_call_ps()), from.jitter_seed()};
  return to;
}

// ---- Costs and storage -------------------------------------------------------------------------

using StatedField = proto::Topology::Stated;

void EncodeStated(const StatedValue& from, StatedField* to) {
  to->set_value(from.value);
  to->set_source(from.source);
}

StatedValue DecodeStated(const StatedField& from) { return {from.value(), from.source()}; }

std::optional<StatedValue> DecodeStated(bool has, const StatedField& from) {
  return has ? std::optional(DecodeStated(from)) : std::nullopt;
}

void EncodeCost(const Cost& from, proto::Topology::Cost* to) {
  to->set_currency(from.currency);
  if (from.gpu_hour) EncodeStated(*from.gpu_hour, to->mutable_gpu_hour());
  if (from.host_hour) EncodeStated(*from.host_hour, to->mutable_host_hour());
  if (from.electricity) EncodeStated(*from.electricity, to->mutable_electricity());
  if (const auto& capital = from.capital) {
    proto::Topology::Capital* made = to->mutable_capital();
    EncodeStated(capital->host, made->mutable_host());
    if (capital->fabric_switch) {
      EncodeStated(*capital->fabric_switch, made->mutable_fabric_switch());
    }
    if (capital->optics) EncodeStated(*capital->optics, made->mutable_optics());
    EncodeStated(capital->years, made->mutable_years());
  }
  if (const auto& power = from.power) {
    proto::Topology::Power* made = to->mutable_power();
    EncodeStated(power->gpu, made->mutable_gpu_watts());
    EncodeStated(power->host, made->mutable_host_watts());
    if (power->fabric_switch) EncodeStated(*power->fabric_switch, made->mutable_switch_watts());
    if (power->optics) EncodeStated(*power->optics, made->mutable_optics_watts());
    EncodeStated(power->pue, made->mutable_pue());
  }
}

Cost DecodeCost(const proto::Topology::Cost& from) {
  Cost to;
  to.currency = from.currency();
  to.gpu_hour = DecodeStated(from.has_gpu_hour(), from.gpu_hour());
  to.host_hour = DecodeStated(from.has_host_hour(), from.host_hour());
  to.electricity = DecodeStated(from.has_electricity(), from.electricity());
  if (from.has_capital()) {
    const proto::Topology::Capital& capital = from.capital();
    to.capital = {DecodeStated(capital.host()),
                  DecodeStated(capital.has_fabric_switch(), capital.fabric_switch()),
                  DecodeStated(capital.has_optics(), capital.optics()),
                  DecodeStated(capital.years())};
  }
  if (from.has_power()) {
    const proto::Topology::Power& power = from.power();
    to.power = {DecodeStated(power.gpu_watts()), DecodeStated(power.host_watts()),
                DecodeStated(power.has_switch_watts(), power.switch_watts()),
                DecodeStated(power.has_optics_watts(), power.optics_watts()),
                DecodeStated(power.pue())};
  }
  return to;
}

void EncodeStorage(const Storage& from, proto::Topology::Storage* to) {
  to->set_read_bits_per_second(from.read.bits_per_second());
  to->set_write_bits_per_second(from.write.bits_per_second());
  to->set_host_bits_per_second(from.host.bits_per_second());
  to->set_source(from.source);
}

Storage DecodeStorage(const proto::Topology::Storage& from) {
  return {Bandwidth::BitsPerSecond(from.read_bits_per_second()),
          Bandwidth::BitsPerSecond(from.write_bits_per_second()),
          Bandwidth::BitsPerSecond(from.host_bits_per_second()), from.source()};
}

// ---- The whole --------------------------------------------------------------------------------

// Returns false if a table has another size.
bool DecodeAll(const proto::Topology& from, ClusterInput* to) {
  Topology topology;
  topology.name = from.name();
  for (const auto& gpu : from.gpus()) {
    std::optional<GpuSpec> decoded = protocol::Decode(gpu);
    if (!decoded) return false;
    topology.gpus.push_back(*std::move(decoded));
  }
  for (const auto& kind : from.host_kinds()) topology.host_kinds.push_back(DecodeHostKind(kind));
  topology.hosts.assign(from.hosts().begin(), from.hosts().end());
  if (!DecodeFabric(from, &topology.fabric)) return false;
  topology.transport = DecodeTransport(from.transport());
  for (const auto& fault : from.faults()) topology.faults.push_back(DecodeFault(fault));
  topology.nccl_settings = DecodeSettings(from.nccl_settings());
  if (from.has_cost()) topology.cost = DecodeCost(from.cost());
  if (from.has_storage()) topology.storage = DecodeStorage(from.storage());
  to->topology = std::move(topology);
  to->variation = DecodeVariation(from);
  return true;
}

// Sets *text to the text of a file in the manifest. Returns false if there is none.
bool FindText(const ClusterInput& cluster, const std::string& name, std::string* text) {
  for (const auto& [known, content] : cluster.files) {
    if (known != name) continue;
    *text = content;
    return true;
  }
  return false;
}

// Adds the texts of GPU files and NCCL topologies. Returns false if the manifest lacks one.
bool AddTexts(ClusterInput* cluster) {
  for (GpuSpec& gpu : cluster->topology.gpus) {
    gpu.file_name = GpuFileName(gpu.name);
    if (!FindText(*cluster, gpu.file_name, &gpu.file_text)) return false;
    if (gpu.reference.empty()) continue;
    if (!FindText(*cluster, GpuFileName(gpu.reference), &gpu.reference_text)) return false;
  }
  for (HostKind& kind : cluster->topology.host_kinds) {
    const std::string& file = kind.nccl_topology_file;
    if (!file.empty() && !FindText(*cluster, file, &kind.nccl_topology_xml)) return false;
  }
  return true;
}

// Returns an error unless the topology follows from the texts of `cluster`.
Status CheckTexts(const proto::Provenance& provenance, const std::string& path,
                  const ClusterInput& cluster) {
  const std::vector<Provenance::Input> inputs = InputsOf(cluster);
  for (const Provenance::Input& input : inputs) {
    RETURN_IF_ERROR(protocol::CheckMadeFrom(provenance, path, input.name, input.sha256));
  }
  if (static_cast<size_t>(provenance.inputs_size()) == inputs.size()) return OkStatus();
  return protocol::Damaged(path, "it has inputs that the manifest lacks");
}

}  // namespace

Result<std::string> EncodeTopology(const Topology& topology, const ClusterInput& cluster,
                                   const std::string& tool, const std::string& path) {
  proto::Topology message;
  protocol::FillProvenance(kKind, {tool, InputsOf(cluster), {}}, message.mutable_provenance());
  message.set_name(topology.name);
  for (const GpuSpec& gpu : topology.gpus) protocol::Encode(gpu, message.add_gpus());
  for (const HostKind& kind : topology.host_kinds) EncodeHostKind(kind, message.add_host_kinds());
  message.mutable_hosts()->Add(topology.hosts.begin(), topology.hosts.end());
  EncodeFabric(topology.fabric, &message);
  EncodeTransport(topology.transport, message.mutable_transport());
  EncodeSettings(topology.nccl_settings, message.mutable_nccl_settings());
  for (const Fault& fault : topology.faults) EncodeFault(fault, message.add_faults());
  EncodeVariation(cluster.variation, &message);
  if (topology.cost) EncodeCost(*topology.cost, message.mutable_cost());
  if (topology.storage) EncodeStorage(*topology.storage, message.mutable_storage());
  return protocol::Serialize(message, path);
}

Status ReadTopology(const std::string& path, ClusterInput* cluster) {
  proto::Topology message;
  RETURN_IF_ERROR(protocol::Load(path, kKind, kMaker, &message, nullptr));
  RETURN_IF_ERROR(CheckTexts(message.provenance(), path, *cluster));
  if (!DecodeAll(message, cluster)) return protocol::Damaged(path, "its tables contradict");
  if (!AddTexts(cluster)) return protocol::Damaged(path, "it names a file that the manifest lacks");
  const Status valid = CheckTopology(cluster->topology, cluster->variation);
  return valid.ok() ? OkStatus() : protocol::Damaged(path, valid.error().message());
}

}  // namespace drydock
