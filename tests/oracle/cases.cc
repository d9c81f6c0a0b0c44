#include "tests/oracle/cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/base/check.h"
#include "core/schema/cluster_file.h"

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

// Names of files in configs/clusters, whose only kind of host is meant; several take turns.
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

// Under which NCCL makes several hosts of a machine or a rack.
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

Result<NcclHost> Describe(const std::string& kind) {
  ASSIGN_OR_RETURN(const ClusterInput cluster,
                   LoadCluster(fmt::format("configs/clusters/{}.topo", kind), {}));
  const HostKind& host = cluster.topology.host_kinds.front();
  return DescribeHost(host, cluster.topology.gpus[static_cast<size_t>(host.gpu)]);
}

Result<OracleCase> CaseOf(const Kinds& kinds, const Group& group, const Settings& settings) {
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
          "dgx-h100-8: 2 hosts of 8 NCCL_CROSS_NIC=1 NCCL_NVLS_ENABLE=0",
          "dgx-h100-8: a pair on two hosts NCCL_NET_SHARED_BUFFERS=0 NCCL_MAX_NCHANNELS=6"};
}

// ---- What is called ----

std::string SizeText(int64_t bytes) {
  if (bytes >= 1 << 20) return fmt::format("{} MiB", bytes >> 20);
  return fmt::format("{} KiB", bytes >> 10);
}

struct Element {
  const char* name;
  int type;
  int bytes;
};
constexpr Element kFloat16 = {"float16", HACKNCCL_FLOAT16, 2};
constexpr Element kInt8 = {"int8", HACKNCCL_INT8, 1};
constexpr Element kFloat8 = {"float8", HACKNCCL_FLOAT8_E4M3, 1};

struct Function {
  const char* name;
  int function;
  bool has_parts;  // counts per rank
};
constexpr std::array kCollectives = {Function{"all-reduce", HACKNCCL_ALL_REDUCE, false},
                                     Function{"all-gather", HACKNCCL_ALL_GATHER, true},
                                     Function{"reduce-scatter", HACKNCCL_REDUCE_SCATTER, true},
                                     Function{"broadcast", HACKNCCL_BROADCAST, false},
                                     Function{"reduce", HACKNCCL_REDUCE, false}};
constexpr std::array kExchanges = {Function{"all-to-all", HACKNCCL_ALL_TO_ALL, true},
                                   Function{"gather", HACKNCCL_GATHER, true},
                                   Function{"scatter", HACKNCCL_SCATTER, true}};

hacknccl_call Call(const Function& function, const Element& element, int64_t bytes, int ranks) {
  const int64_t parts = function.has_parts ? ranks : 1;
  const int64_t count = std::max<int64_t>(1, bytes / element.bytes / parts);
  return {
      function.function, element.type, HACKNCCL_SUM, ranks - 1, static_cast<uint64_t>(count), 0};
}

OracleStep StepOf(const Function& function, const Element& element, int64_t bytes, int ranks) {
  const hacknccl_call call = Call(function, element, bytes, ranks);
  return {fmt::format("{} {} {}", function.name, element.name, SizeText(bytes)),
          [call](int) { return std::vector<hacknccl_call>{call}; }};
}

OracleStep Shift(int64_t bytes, int distance, int ranks) {
  return {fmt::format("shift by {} of {}", distance, SizeText(bytes)), [=](int rank) {
            return std::vector<hacknccl_call>{
                SendTo((rank + distance) % ranks, bytes),
                ReceiveFrom((rank - distance + ranks) % ranks, bytes)};
          }};
}

// Only the first and the last rank have something to say.
OracleStep Pair(int64_t bytes, int ranks) {
  return {fmt::format("message of {}", SizeText(bytes)), [=](int rank) {
            std::vector<hacknccl_call> calls;
            if (rank == 0) calls.push_back(SendTo(ranks - 1, bytes));
            if (rank == ranks - 1) calls.push_back(ReceiveFrom(0, bytes));
            return calls;
          }};
}

// Everybody sends everybody else another amount, to some nothing.
OracleStep UnevenAllToAll(int64_t unit, int ranks) {
  const auto bytes = [=](int from, int to) { return unit * ((from * 3 + to * 5) % 7); };
  return {fmt::format("uneven all-to-all of {}", SizeText(unit)), [=](int rank) {
            std::vector<hacknccl_call> calls;
            for (int peer = 0; peer < ranks; ++peer) {
              if (peer == rank) continue;
              if (bytes(rank, peer) > 0) calls.push_back(SendTo(peer, bytes(rank, peer)));
              if (bytes(peer, rank) > 0) calls.push_back(ReceiveFrom(peer, bytes(peer, rank)));
            }
            return calls;
          }};
}

// A collective and messages in one group.
OracleStep Mixed(int64_t bytes, int ranks) {
  const OracleStep shift = Shift(bytes, 1, ranks);
  const hacknccl_call all_reduce = Call(kCollectives[0], kFloat16, bytes, ranks);
  return {fmt::format("all-reduce and shift of {}", SizeText(bytes)), [=](int rank) {
            std::vector<hacknccl_call> calls = shift.calls(rank);
            calls.push_back(all_reduce);
            return calls;
          }};
}

// Collectives of several sizes, broadcasts with several roots, and messages, two to the same rank.
OracleStep Bundle(int64_t bytes, int ranks) {
  const OracleStep shift = Shift(bytes, 1, ranks);
  const OracleStep again = Shift(bytes / 4, 1, ranks);
  std::vector<hacknccl_call> collectives;
  for (const int64_t size : {bytes, 16 * bytes, 3 * bytes}) {
    collectives.push_back(Call(kCollectives[0], kFloat16, size, ranks));
    collectives.push_back(Call(kCollectives[3], kFloat16, size, ranks));
    collectives.back().root = static_cast<int>(size % 7) % ranks;
  }
  collectives.push_back(Call(kCollectives[1], kFloat16, 2 * bytes, ranks));
  return {fmt::format("group of {}", SizeText(bytes)), [=](int rank) {
            std::vector<hacknccl_call> calls = shift.calls(rank);
            calls.insert(calls.end(), collectives.begin(), collectives.end());
            for (const hacknccl_call& call : again.calls(rank)) calls.push_back(call);
            return calls;
          }};
}

// NCCL adds eight-bit floats from compute capability 9.0 on.
bool KnowsFloat8(const OracleCase& of) {
  return std::all_of(of.host_classes.begin(), of.host_classes.end(),
                     [](const NcclHost& host) { return host.compute_capability >= 90; });
}

}  // namespace

Result<std::vector<OracleCase>> OracleCases(bool full) {
  const std::vector<std::string> in_short = ShortNames();
  std::vector<OracleCase> cases;
  const auto add = [&](const Kinds& kinds, const Group& group, const Settings& settings) -> Status {
    ASSIGN_OR_RETURN(OracleCase made, CaseOf(kinds, group, settings));
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
    if (group.gpus_by_host.size() > 3) continue;
    for (const Settings& settings : SettingsToTry()) {
      RETURN_IF_ERROR(add({"dgx-h100-8"}, group, settings));
    }
  }
  CHECK(full || cases.size() == in_short.size());
  return cases;
}

std::vector<OracleStep> OracleSteps(const OracleCase& of, bool full) {
  const int ranks = of.ranks();
  constexpr int64_t kKi = 1 << 10, kMi = 1 << 20;
  const std::vector<int64_t> sizes =
      full ? std::vector<int64_t>{kKi,     8 * kKi,  64 * kKi, 256 * kKi, kMi,
                                  4 * kMi, 16 * kMi, 64 * kMi, 256 * kMi, 1024 * kMi}
           : std::vector<int64_t>{kKi, 64 * kKi, 2 * kMi, 32 * kMi, 1024 * kMi};
  std::vector<OracleStep> steps;
  for (const Function& function : kCollectives) {
    for (const int64_t bytes : sizes) steps.push_back(StepOf(function, kFloat16, bytes, ranks));
    for (const Element& element : {kInt8, kFloat8}) {
      if (element.type == HACKNCCL_FLOAT8_E4M3 && !KnowsFloat8(of)) continue;
      steps.push_back(StepOf(function, element, kMi, ranks));
      steps.push_back(StepOf(function, element, 256 * kMi, ranks));
    }
  }
  for (const int64_t bytes : {kKi, 512 * kKi, 64 * kMi}) {
    for (const Function& function : kExchanges) {
      steps.push_back(StepOf(function, kFloat16, bytes, ranks));
    }
    steps.push_back(Shift(bytes, 1, ranks));
    steps.push_back(Shift(bytes, ranks / 2, ranks));
    steps.push_back(Pair(bytes, ranks));
    steps.push_back(UnevenAllToAll(bytes, ranks));
    steps.push_back(Mixed(bytes, ranks));
    steps.push_back(Bundle(bytes, ranks));
  }
  return steps;
}

}  // namespace drydock
