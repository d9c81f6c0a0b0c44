#include "core/schema/artefacts/gpu_codec.h"

#include <array>

namespace drydock::protocol {
namespace {

using Costs = CollectiveCosts;
using Protocol = Costs::Protocol;

// In the order of the file.
constexpr std::array<Protocol Costs::*, 9> kProtocols = {
    &Costs::simple,          &Costs::ll,         &Costs::ll128,  &Costs::nvls,
    &Costs::nvls_registered, &Costs::p2p_simple, &Costs::p2p_ll, &Costs::copy_engine,
    &Costs::userbuffers};

void EncodeProtocol(const Protocol& from, proto::Topology::Protocol* to) {
  to->set_base_ps(from.base.ps());
  to->set_base_per_warp_ps(from.base_per_warp.ps());
  to->set_step_ps(from.step.ps());
  to->set_pass_bytes(from.pass.count());
  to->set_pass_ps(from.pass_time.ps());
  to->set_pass_store_ps(from.pass_store.ps());
  to->set_send_bits_per_second(from.send.bits_per_second());
  to->set_copy_send_bits_per_second(from.copy_send.bits_per_second());
  to->set_reduce_send_bits_per_second(from.reduce_send.bits_per_second());
  to->set_receive_bits_per_second(from.receive.bits_per_second());
  to->set_net_slice_ps(from.net_slice.ps());
  to->set_proxy_ps(from.proxy.ps());
  to->set_hop_ps(from.hop.ps());
}

Protocol DecodeProtocol(const proto::Topology::Protocol& from) {
  return {Time::Ps(from.base_ps()),
          Time::Ps(from.base_per_warp_ps()),
          Time::Ps(from.step_ps()),
          Bytes(from.pass_bytes()),
          Time::Ps(from.pass_ps()),
          Time::Ps(from.pass_store_ps()),
          Bandwidth::BitsPerSecond(from.send_bits_per_second()),
          Bandwidth::BitsPerSecond(from.copy_send_bits_per_second()),
          Bandwidth::BitsPerSecond(from.reduce_send_bits_per_second()),
          Bandwidth::BitsPerSecond(from.receive_bits_per_second()),
          Time::Ps(from.net_slice_ps()),
          Time::Ps(from.proxy_ps()),
          Time::Ps(from.hop_ps())};
}

void EncodeCosts(const Costs& from, proto::Topology::Gpu* to) {
  for (const auto protocol : kProtocols) EncodeProtocol(from.*protocol, to->add_protocols());
  to->set_link_efficiency(from.link_efficiency);
  to->set_several_peers(from.several_peers);
  to->set_clear_to_send_bytes(from.clear_to_send.count());
  to->set_costs_source(from.source);
}

Costs DecodeCosts(const proto::Topology::Gpu& from) {
  Costs to;
  for (size_t i = 0; i < kProtocols.size(); ++i) {
    to.*kProtocols[i] = DecodeProtocol(from.protocols(static_cast<int>(i)));
  }
  to.link_efficiency = from.link_efficiency();
  to.several_peers = from.several_peers();
  to.clear_to_send = Bytes(from.clear_to_send_bytes());
  to.source = from.costs_source();
  return to;
}

}  // namespace

void Encode(const GpuSpec& from, proto::Topology::Gpu* to) {
  to->set_name(from.name);
  to->set_architecture(from.architecture);
  to->set_compute_capability(from.compute_capability);
  to->set_sms(from.sms);
  to->set_clock_mhz(from.clock_mhz);
  // A GPU without rates of the last types states none, so its topology stays as it was before these
  // types existed.
  int count = kDataTypeCount;
  while (count > kMessageTypeCount && from.dense_rate[count - 1] == FlopRate()) --count;
  for (int i = 0; i < count; ++i) {
    to->add_dense_flops_per_second(from.dense_rate[i].flops_per_second());
  }
  to->set_memory_bytes(from.memory.count());
  to->set_memory_bits_per_second(from.memory_bandwidth.bits_per_second());
  to->set_l2_bytes(from.l2.count());
  to->set_nvlink_bits_per_second(from.nvlink.bits_per_second());
  to->set_pcie_bits_per_second(from.pcie.bits_per_second());
  to->set_source(from.source);
  to->set_reference(from.reference);
  if (from.has_collective_costs) EncodeCosts(from.collectives, to);
}

std::optional<GpuSpec> Decode(const proto::Topology::Gpu& from) {
  GpuSpec to;
  to.has_collective_costs = from.protocols_size() > 0;
  const bool complete = static_cast<size_t>(from.protocols_size()) == kProtocols.size();
  if (from.dense_flops_per_second_size() < kMessageTypeCount ||
      from.dense_flops_per_second_size() > kDataTypeCount ||
      (to.has_collective_costs && !complete)) {
    return std::nullopt;
  }
  to.name = from.name();
  to.architecture = from.architecture();
  to.compute_capability = from.compute_capability();
  to.sms = from.sms();
  to.clock_mhz = from.clock_mhz();
  for (int i = 0; i < from.dense_flops_per_second_size(); ++i) {
    to.dense_rate[i] = FlopRate(from.dense_flops_per_second(i));
  }
  to.memory = Bytes(from.memory_bytes());
  to.memory_bandwidth = Bandwidth::BitsPerSecond(from.memory_bits_per_second());
  to.l2 = Bytes(from.l2_bytes());
  to.nvlink = Bandwidth::BitsPerSecond(from.nvlink_bits_per_second());
  to.pcie = Bandwidth::BitsPerSecond(from.pcie_bits_per_second());
  to.source = from.source();
  to.reference = from.reference();
  if (to.has_collective_costs) to.collectives = DecodeCosts(from);
  return to;
}

}  // namespace drydock::protocol
