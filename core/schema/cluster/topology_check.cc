#include "core/schema/cluster/topology_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/model/fabric/transport_attributes.h"
#include "core/schema/cluster/cluster_limits.h"
#include "core/schema/cluster/fabric_table.h"
#include "core/schema/cluster/gpu_limits_file.h"
#include "core/schema/fabric/limits.h"
#include "core/schema/site/cost_file.h"
#include "core/schema/site/storage_file.h"

namespace drydock {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

bool IsOneOf(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <typename Enum>
bool IsEnumerator(Enum value, const std::vector<std::string>& names) {
  return static_cast<size_t>(value) < names.size();
}

bool IsWithin(double value, double low, double high) { return value >= low && value <= high; }

bool IsIndex(int64_t index, size_t size) {
  return index >= 0 && static_cast<uint64_t>(index) < size;
}

bool IsLatency(Time time) { return time >= Time() && time <= kMaxLatency; }

// Of a value that a file may leave out.
bool IsRateOrNone(Bandwidth rate) { return rate == Bandwidth() || rate >= kMinRate; }

bool IsShareOrNone(double share) { return IsWithin(share, 0, 1); }

// ---- GPUs -------------------------------------------------------------------------------------

using Protocol = CollectiveCosts::Protocol;

bool HasTimes(const Protocol& p) {
  for (const Time time :
       {p.base, p.base_per_warp, p.step, p.pass_time, p.pass_store, p.net_slice, p.proxy, p.hop}) {
    if (time < Time()) return false;
  }
  return p.pass >= Bytes();
}

// A protocol moves data by passes or at rates.
bool IsProtocol(const Protocol& p) {
  if (!HasTimes(p)) return false;
  return p.pass > Bytes() || (p.send >= kMinRate && p.copy_send >= kMinRate &&
                              p.reduce_send >= kMinRate && p.receive >= kMinRate);
}

bool AreCosts(const CollectiveCosts& costs) {
  for (const Protocol* p :
       {&costs.simple, &costs.ll, &costs.ll128, &costs.p2p_simple, &costs.p2p_ll}) {
    if (!IsProtocol(*p)) return false;
  }
  for (const Protocol* p :
       {&costs.nvls, &costs.nvls_registered, &costs.copy_engine, &costs.userbuffers}) {
    if (*p != Protocol() && !IsProtocol(*p)) return false;
  }
  return IsWithin(costs.link_efficiency, kMinLinkShare, 1) &&
         IsWithin(costs.several_peers, kMinLinkShare, 1) && costs.clear_to_send >= Bytes();
}

bool IsGpu(const GpuSpec& gpu) {
  for (const FlopRate rate : gpu.dense_rate) {
    if (!std::isfinite(rate.flops_per_second()) || rate < FlopRate()) return false;
  }
  const CollectiveCosts& costs = gpu.collectives;
  return gpu.compute_capability >= kMinComputeCapability &&
         gpu.compute_capability <= kMaxComputeCapability && gpu.sms >= 1 && gpu.sms <= kMaxSms &&
         (gpu.clock_mhz == 0 || gpu.clock_mhz >= kMinClock) && gpu.memory > Bytes() &&
         gpu.memory_bandwidth >= kMinRate && gpu.l2 > Bytes() && IsRateOrNone(gpu.nvlink) &&
         gpu.pcie >= kMinRate &&
         (gpu.has_collective_costs ? AreCosts(costs) : costs == CollectiveCosts());
}

// ---- Hosts ------------------------------------------------------------------------------------

bool IsMesh(const std::vector<MeshLink>& mesh, int gpus, int64_t links) {
  std::vector<int64_t> used(static_cast<size_t>(gpus), 0);
  const MeshLink* before = nullptr;
  for (const MeshLink& link : mesh) {
    if (link.a < 0 || link.a >= link.b || link.b >= gpus || link.count < 1 ||
        link.count > kMaxMeshLinks) {
      return false;
    }
    if (before != nullptr && std::pair(before->a, before->b) >= std::pair(link.a, link.b)) {
      return false;
    }
    for (const int gpu : {link.a, link.b}) used[static_cast<size_t>(gpu)] += link.count;
    before = &link;
  }
  return std::all_of(used.begin(), used.end(), [links](int64_t count) { return count <= links; });
}

bool IsScaleUp(const ScaleUp& scale_up, int gpus, const GpuSpec& gpu) {
  const int64_t rate = scale_up.bandwidth.bits_per_second();
  const int64_t link = NvLinkRate(gpu.compute_capability).bits_per_second();
  const bool switched = scale_up.kind == ScaleUpKind::kNvSwitch;
  const int fewest = switched ? 1 : 0;
  const int most = switched ? kMaxNvSwitches : 0;
  if (scale_up.kind > ScaleUpKind::kPcie || scale_up.bandwidth < kMinRate ||
      !IsLatency(scale_up.latency) || scale_up.switches < fewest || scale_up.switches > most) {
    return false;
  }
  if (scale_up.multicast && (!switched || gpu.compute_capability < 90)) return false;
  if (scale_up.kind == ScaleUpKind::kPcie) {
    return scale_up.bandwidth <= gpu.pcie && scale_up.mesh.empty();
  }
  if (rate % link != 0 || scale_up.bandwidth > gpu.nvlink) return false;
  return switched ? scale_up.mesh.empty() : IsMesh(scale_up.mesh, gpus, rate / link);
}

bool IsBoard(const Board& board) {
  return (board.cpu.empty() || IsOneOf(board.cpu, CpuNames())) && board.sockets >= 1 &&
         board.sockets <= kMaxSockets && board.gpus_per_switch >= -1 &&
         board.gpus_per_switch <= kMaxGpus && IsRateOrNone(board.socket_link) &&
         IsRateOrNone(board.c2c) && IsWithin(board.launch_speed, kMinLaunchSpeed, kMaxLaunchSpeed);
}

bool IsMemory(const HostMemory& memory) {
  const RemoteMemory& remote = memory.remote;
  if (static_cast<int>(remote.sharing) >= kRemoteSharingCount) return false;
  const bool stated = remote.sharing != RemoteSharing::kNone;
  return IsRateOrNone(memory.bandwidth) && IsShareOrNone(memory.copy_efficiency) &&
         IsShareOrNone(memory.optimizer_efficiency) &&
         (memory.latency == HostMemory().latency || IsLatency(memory.latency)) &&
         (stated ? remote.bandwidth >= kMinRate && IsLatency(remote.latency)
                 : remote == RemoteMemory());
}

bool AreNics(const Nics& nics, const HostKind& kind) {
  if (nics.count < 0 || nics.count > kMaxNics || !IsLatency(nics.latency) ||
      !IsLatency(nics.message) || nics.pcie_lanes < 1 || nics.pcie_lanes > kMaxPcieLanes) {
    return false;
  }
  const bool linked = nics.pcie_generation >= kMinPcieGeneration &&
                      nics.pcie_generation <= kMaxPcieGeneration && nics.rate >= kMinRate;
  if (nics.count == 0) return linked || (nics.pcie_generation == 0 && nics.rate == Bandwidth());
  return linked && nics.count % kind.trays == 0 &&
         (nics.count % kind.gpus == 0 || kind.gpus % nics.count == 0);
}

bool AreLimits(const GpuLimits& limits) {
  return limits.watts >= 0 && limits.watts <= kMaxWatts && limits.mhz >= 0 &&
         limits.mhz <= kMaxClock;
}

bool IsHostKind(const HostKind& kind, const std::vector<GpuSpec>& gpus) {
  return IsIndex(kind.gpu, gpus.size()) && kind.gpus >= 1 && kind.gpus <= kMaxGpus &&
         kind.trays >= 1 && kind.trays <= kMaxTrays && kind.gpus % kind.trays == 0 &&
         AreLimits(kind.limits) &&
         (kind.trays == 1 || kind.scale_up.kind == ScaleUpKind::kNvSwitch) &&
         IsScaleUp(kind.scale_up, kind.gpus, gpus[static_cast<size_t>(kind.gpu)]) &&
         IsBoard(kind.board) && IsMemory(kind.memory) && AreNics(kind.nics, kind);
}

bool AreHosts(const Topology& topology) {
  const std::vector<HostKind>& kinds = topology.host_kinds;
  return std::all_of(kinds.begin(), kinds.end(),
                     [&](const HostKind& kind) { return IsHostKind(kind, topology.gpus); }) &&
         !topology.hosts.empty() && topology.hosts.size() <= size_t{kMaxHosts} &&
         std::all_of(topology.hosts.begin(), topology.hosts.end(),
                     [&](int kind) { return IsIndex(kind, kinds.size()); });
}

// ---- Fabric and transport ---------------------------------------------------------------------

bool Exists(const LinkEnd& end, const Topology& topology) {
  if (end.is_switch) return IsIndex(end.index, topology.fabric.switches.size()) && end.nic == 0;
  return IsIndex(end.index, topology.hosts.size()) && end.nic >= 0 &&
         end.nic < topology.kind_of_host(end.index).nics.count;
}

bool IsLink(const FabricLink& link, const Topology& topology) {
  const bool loop = link.a.is_switch && link.b.is_switch && link.a.index == link.b.index;
  return Exists(link.a, topology) && Exists(link.b, topology) && !loop && link.rate >= kMinRate &&
         IsLatency(link.delay);
}

bool IsSwitch(const FabricSwitch& made) {
  return !made.name.empty() && made.tier >= 0 && made.tier <= kMaxTier && IsLatency(made.latency) &&
         made.buffer >= Bytes();
}

// REQUIRES: the hosts are valid.
bool IsFabric(const Topology& topology) {
  const Fabric& fabric = topology.fabric;
  const bool known = fabric.kind.empty() ||
                     std::any_of(FabricKinds().begin(), FabricKinds().end(),
                                 [&](const FabricKind& kind) { return fabric.kind == kind.name; });
  const bool sharp =
      !fabric.sharp || (IsLatency(fabric.sharp->latency) && !fabric.switches.empty() &&
                        topology.transport.kind == TransportKind::kInfiniBand);
  return known && sharp && IsEnumerator(fabric.routing, RoutingNames()) &&
         std::all_of(fabric.switches.begin(), fabric.switches.end(), IsSwitch) &&
         std::all_of(fabric.links.begin(), fabric.links.end(),
                     [&](const FabricLink& link) { return IsLink(link, topology); }) &&
         CheckConnected(topology).ok();
}

// Names are sorted, and each is there once.
bool AreSorted(const Settings& settings) {
  return std::adjacent_find(settings.begin(), settings.end(), [](const auto& a, const auto& b) {
           return a.first >= b.first;
         }) == settings.end();
}

bool IsTransport(const Transport& transport) {
  const auto within = [](Bytes bytes, int64_t low, int64_t high) {
    return bytes.count() >= low && bytes.count() <= high;
  };
  return IsEnumerator(transport.kind, TransportKindNames()) &&
         IsEnumerator(transport.flow_control, FlowControlNames()) &&
         IsEnumerator(transport.retransmission, RetransmissionNames()) &&
         IsEnumerator(transport.congestion_control, CongestionControlNames()) &&
         within(transport.mtu, kMinMtu, kMaxMtu) &&
         within(transport.header, 1, kMaxFrameOverhead) &&
         within(transport.ack, 1, kMaxFrameOverhead) && transport.packets_per_ack >= 1 &&
         transport.packets_per_ack <= kMaxPacketsPerAck && AreSorted(transport.attributes) &&
         CheckTransportAttributes(transport.attributes).ok();
}

bool AreNcclSettings(const Settings& settings) {
  return AreSorted(settings) && std::all_of(settings.begin(), settings.end(), [](const auto& each) {
           return each.first.starts_with("NCCL_");
         });
}

// ---- Faults and jitter ------------------------------------------------------------------------

bool IsFault(const Fault& fault, size_t links) {
  const bool rate =
      fault.kind == Fault::Kind::kRate ? fault.rate >= kMinRate : fault.rate == Bandwidth();
  const bool errors = fault.kind == Fault::Kind::kErrors
                          ? fault.bit_errors > 0 && fault.bit_errors <= kMaxBitErrors
                          : fault.bit_errors == 0;
  return fault.at >= Time() &&
         static_cast<int>(fault.kind) <= static_cast<int>(Fault::Kind::kErrors) && rate && errors &&
         std::all_of(fault.links.begin(), fault.links.end(),
                     [links](int link) { return IsIndex(link, links); });
}

// Every end has a beginning before it.
bool ArePaired(const std::vector<Fault>& faults) {
  std::map<std::tuple<Fault::Kind, std::vector<int>, Bandwidth, double>, int> open;
  for (const Fault& fault : faults) {
    int& count = open[{fault.kind, fault.links, fault.rate, fault.bit_errors}];
    count += fault.ends ? -1 : 1;
    if (count < 0) return false;
  }
  return true;
}

bool AreFaults(const Topology& topology) {
  const std::vector<Fault>& faults = topology.faults;
  return std::all_of(
             faults.begin(), faults.end(),
             [&](const Fault& fault) { return IsFault(fault, topology.fabric.links.size()); }) &&
         std::is_sorted(faults.begin(), faults.end(),
                        [](const Fault& a, const Fault& b) { return a.at < b.at; }) &&
         ArePaired(faults);
}

bool IsVariation(const Variation& variation, const Topology& topology) {
  for (const SlowGpu& slow : variation.slow_gpus) {
    if (slow.at < Time() || !IsIndex(slow.host, topology.hosts.size()) || slow.gpu < -1 ||
        slow.gpu >= topology.kind_of_host(slow.host).gpus ||
        !IsWithin(slow.slowdown, 1, kMaxSlowdown)) {
      return false;
    }
  }
  const Jitter& jitter = variation.jitter;
  return std::is_sorted(variation.slow_gpus.begin(), variation.slow_gpus.end(),
                        [](const SlowGpu& a, const SlowGpu& b) { return a.at < b.at; }) &&
         IsWithin(jitter.compute, 0, kMaxJitter) && jitter.call >= Time() &&
         jitter.call <= kMaxCallDelay && jitter.seed >= 0;
}

}  // namespace

Status CheckTopology(const Topology& topology, const Variation& variation) {
  const auto contradict = [](const char* what) {
    return Error(fmt::format("its {} contradict the rules of cluster files", what));
  };
  if (!std::all_of(topology.gpus.begin(), topology.gpus.end(), IsGpu)) return contradict("GPUs");
  if (!AreHosts(topology)) return contradict("hosts");
  if (!IsTransport(topology.transport)) return contradict("transport settings");
  if (!IsFabric(topology)) return contradict("switches or cables");
  if (!AreNcclSettings(topology.nccl_settings)) return contradict("NCCL settings");
  if (!AreFaults(topology)) return contradict("faults");
  if (!IsVariation(variation, topology)) return contradict("slow GPUs or jitter");
  if (topology.cost && !IsCost(*topology.cost, PricedPartsOf(topology, OwnPowerLimit(topology))))
    return contradict("costs");
  if (topology.storage && !IsStorage(*topology.storage)) return contradict("rates of storage");
  return OkStatus();
}

}  // namespace drydock
