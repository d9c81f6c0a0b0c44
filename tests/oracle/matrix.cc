// The communicators that are compared.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/check.h"
#include "core/schema/cluster/cluster_file.h"
#include "tests/oracle/cases.h"

namespace drydock {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

// The GPUs of each host, in the order of their ranks.
struct Group {
  const char* name;
  std::vector<std::vector<int>> gpus_by_host;
  bool hosts_take_turns = false;  // rank 0 on host 0, rank 1 on host 1, ...; else host by host
};

const std::vector<int> kEight = {0, 1, 2, 3, 4, 5, 6, 7};

std::vector<std::vector<int>> Hosts(int count, const std::vector<int>& gpus) {
  return std::vector<std::vector<int>>(static_cast<size_t>(count), gpus);
}

// Names of files in configs/clusters, each with one kind of host. If there are several files, hosts
// alternate between them. "with SHARP": the NICs are joined to a collective network.
using Kinds = std::vector<std::string>;

std::vector<Kinds> SingleKinds() {
  return {{"dgx-a100-80g-8"}, {"dgx-h100-8"}, {"hgx-a100-4nic-8"}, {"l40s-pcie-4"},
          {"dgx-1-v100-2"},   {"dgx-h200-8"}, {"dgx-b200-8"},      {"gb200-nvl72-2"}};
}

std::vector<Kinds> Mixtures() {
  return {{"dgx-a100-80g-8", "hgx-a100-4nic-8"},
          {"dgx-a100-80g-8", "dgx-h100-8"},
          {"dgx-h100-8", "dgx-a100-80g-8", "dgx-h200-8"},
          {"dgx-h100-8", "l40s-pcie-4"}};
}

std::vector<Settings> SettingsToTry() {
  return {{{"NCCL_NET_GDR_LEVEL", "LOC"}},
          {{"NCCL_PXN_DISABLE", "1"}},
          {{"NCCL_CROSS_NIC", "1"}, {"NCCL_NVLS_ENABLE", "0"}},
          {{"NCCL_NET_SHARED_BUFFERS", "0"}, {"NCCL_MAX_NCHANNELS", "6"}},
          {{"NCCL_RUNTIME_CONNECT", "0"}, {"NCCL_P2P_NET_CHUNKSIZE", "524288"}},
          {{"NCCL_ALGO", "allreduce:tree,nvlstree"}, {"NCCL_BUFFSIZE", "1048576"}}};
}

// Settings with which NCCL splits a machine or a rack into several hosts.
std::vector<std::pair<Kinds, Settings>> SplittingSettings() {
  const Settings no_p2p = {{"NCCL_P2P_DISABLE", "1"}};
  const Settings neither = {{"NCCL_P2P_DISABLE", "1"}, {"NCCL_SHM_DISABLE", "1"}};
  return {{{"dgx-h100-8"}, no_p2p},
          {{"dgx-h100-8"}, neither},
          {{"hgx-a100-4nic-8"}, no_p2p},
          {{"l40s-pcie-4"}, neither},
          {{"gb200-nvl72-2"}, no_p2p},
          {{"gb200-nvl72-2"}, {{"NCCL_MNNVL_ENABLE", "0"}}},
          {{"dgx-a100-80g-8", "hgx-a100-4nic-8"}, neither}};
}

const Settings kCollNet = {{"NCCL_COLLNET_ENABLE", "1"}};

std::vector<Kinds> WithCollNet() {
  return {{"dgx-h100-8 with SHARP"}, {"dgx-a100-80g-8 with SHARP"}, {"hgx-a100-4nic-8 with SHARP"}};
}

// The layouts whose communicators are split and shrunk.
std::vector<std::pair<Kinds, Settings>> Partitioned() {
  const Settings shared = {{"NCCL_COMM_SPLIT_SHARE_RESOURCES", "1"},
                           {"NCCL_COMM_SHRINK_SHARE_RESOURCES", "1"}};
  return {{{"dgx-h100-8"}, {}},
          {{"dgx-h100-8"}, shared},
          {{"dgx-1-v100-2"}, {}},
          {{"l40s-pcie-4"}, {}},
          {{"hgx-a100-4nic-8"}, shared},
          {{"gb200-nvl72-2"}, {}},
          {{"dgx-h100-8 with SHARP"}, kCollNet}};
}

std::vector<Group> Groups() {
  return {{"1 host of 8", Hosts(1, kEight)},
          {"2 hosts of 8", Hosts(2, kEight)},
          {"4 hosts of 8", Hosts(4, kEight)},
          {"8 hosts of 8", Hosts(8, kEight)},
          {"GPU 3 of 16 hosts", Hosts(16, {3})},
          {"every second GPU of 4 hosts", Hosts(4, {0, 2, 4, 6})},
          {"8 and 4 GPUs", {kEight, {0, 1, 2, 3}}},
          {"3, 5 and 1 GPUs", {{1, 2, 6}, {0, 2, 3, 5, 7}, {4}}},
          {"2 hosts, GPUs in another order", Hosts(2, {5, 0, 7, 2, 1, 6, 3, 4})},
          {"3 hosts of 4 that take turns", Hosts(3, {0, 3, 4, 7}), true},
          {"a pair on one host", Hosts(1, {6, 1})},
          {"four GPUs of two hosts", Hosts(2, {0, 7, 5, 1})},
          {"a pair on two hosts", {{2}, {5}}}};
}

int RanksOf(const Group& group) {
  size_t ranks = 0;
  for (const std::vector<int>& gpus : group.gpus_by_host) ranks += gpus.size();
  return static_cast<int>(ranks);
}

std::vector<hacknccl_place> PlacesOf(const Group& group, const std::vector<int>& class_of_host) {
  std::vector<hacknccl_place> places;
  const auto add = [&](size_t host, size_t local) {
    const std::vector<int>& gpus = group.gpus_by_host[host];
    if (local >= gpus.size()) return;
    const int host_class = class_of_host[host % class_of_host.size()];
    places.push_back({static_cast<int>(host), host_class, gpus[local]});
  };
  const size_t hosts = group.gpus_by_host.size();
  if (group.hosts_take_turns) {
    for (size_t local = 0; local < kEight.size(); ++local) {
      for (size_t host = 0; host < hosts; ++host) add(host, local);
    }
  } else {
    for (size_t host = 0; host < hosts; ++host) {
      for (size_t local = 0; local < kEight.size(); ++local) add(host, local);
    }
  }
  return places;
}

Result<NcclHost> Describe(const std::string& name) {
  const std::string kind = name.substr(0, name.find(" with SHARP"));
  ASSIGN_OR_RETURN(const ClusterInput cluster,
                   LoadCluster(fmt::format("configs/clusters/{}.topo", kind), {}));
  const HostKind& host = cluster.topology.host_kinds.front();
  ASSIGN_OR_RETURN(NcclHost described,
                   DescribeHost(host, cluster.topology.gpus[static_cast<size_t>(host.gpu)]));
  described.collnet = kind != name;
  return described;
}

Result<OracleCase> CaseOf(const Kinds& kinds, const Group& group, const Settings& settings,
                          const Parting& parting) {
  OracleCase out;
  std::vector<int> class_of_host;
  for (const std::string& kind : kinds) {
    class_of_host.push_back(static_cast<int>(out.host_classes.size()));
    ASSIGN_OR_RETURN(NcclHost host, Describe(kind));
    out.host_classes.push_back(std::move(host));
  }
  out.places = PlacesOf(group, class_of_host);
  out.settings = settings;
  out.name = fmt::format("{}: {}", fmt::join(kinds, " + "), group.name);
  for (const auto& [name, value] : settings) out.name += fmt::format(" {}={}", name, value);
  out.parting = parting;
  out.name += parting.name;
  return out;
}

// The short matrix: each kind, shape and setting at least once.
std::vector<std::string> ShortNames() {
  return {"dgx-h100-8: 1 host of 8",
          "dgx-h100-8: 2 hosts of 8",
          "dgx-h100-8: GPU 3 of 16 hosts",
          "dgx-h100-8: 3, 5 and 1 GPUs",
          "dgx-a100-80g-8: every second GPU of 4 hosts",
          "dgx-a100-80g-8: 8 and 4 GPUs",
          "dgx-a100-80g-8: a pair on two hosts",
          "hgx-a100-4nic-8: 3 hosts of 4 that take turns",
          "l40s-pcie-4: 2 hosts of 8",
          "dgx-1-v100-2: 2 hosts, GPUs in another order",
          "dgx-b200-8: 2 hosts of 8",
          "dgx-a100-80g-8 + dgx-h100-8: 2 hosts of 8",
          "dgx-1-v100-2: four GPUs of two hosts",
          "dgx-h100-8: 2 hosts of 8 NCCL_P2P_DISABLE=1",
          "dgx-a100-80g-8 with SHARP: every second GPU of 4 hosts NCCL_COLLNET_ENABLE=1",
          "dgx-h100-8: 2 hosts of 8 split unevenly",
          "dgx-1-v100-2: 2 hosts, GPUs in another order shrunk",
          "dgx-h100-8: 2 hosts of 8 NCCL_CROSS_NIC=1 NCCL_NVLS_ENABLE=0",
          "dgx-h100-8: a pair on two hosts NCCL_NET_SHARED_BUFFERS=0 NCCL_MAX_NCHANNELS=6"};
}

}  // namespace

Result<std::vector<OracleCase>> OracleCases(bool full) {
  const std::vector<std::string> in_short = ShortNames();
  std::vector<OracleCase> cases;
  const auto add = [&](const Kinds& kinds, const Group& group, const Settings& settings,
                       const Parting& parting = {}) -> Status {
    ASSIGN_OR_RETURN(OracleCase made, CaseOf(kinds, group, settings, parting));
    const bool wanted =
        full || std::find(in_short.begin(), in_short.end(), made.name) != in_short.end();
    if (wanted) cases.push_back(std::move(made));
    return OkStatus();
  };
  for (const Group& group : Groups()) {
    for (const Kinds& kinds : SingleKinds()) RETURN_IF_ERROR(add(kinds, group, {}));
    if (group.gpus_by_host.size() <= 3) {
      for (const auto& [kinds, settings] : SplittingSettings()) {
        RETURN_IF_ERROR(add(kinds, group, settings));
      }
    }
    if (group.gpus_by_host.size() < 2) continue;
    for (const Kinds& kinds : Mixtures()) RETURN_IF_ERROR(add(kinds, group, {}));
    for (const Kinds& kinds : WithCollNet()) RETURN_IF_ERROR(add(kinds, group, kCollNet));
    for (const auto& [kinds, settings] : Partitioned()) {
      if (RanksOf(group) < 4) continue;
      for (const Parting& parting : Partings(RanksOf(group))) {
        RETURN_IF_ERROR(add(kinds, group, settings, parting));
      }
    }
    if (group.gpus_by_host.size() > 3) continue;
    for (const Settings& settings : SettingsToTry()) {
      RETURN_IF_ERROR(add({"dgx-h100-8"}, group, settings));
    }
  }
  CHECK(full || cases.size() == in_short.size());
  return cases;
}

}  // namespace drydock
