#include "simccl/testing/expand_testing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/check.h"
#include "core/nccl/testing/hosts_testing.h"

namespace drydock {

const NcclWorld& ExpansionWorld() {
  static const NcclWorld* const world = [] {
    const NcclHost h100 = DescribeHost(DgxH100(), TestGpu(90)).value();
    const NcclHost a100 = DescribeHost(DgxA100(), TestGpu(80)).value();
    const NcclHost four_nics = DescribeHost(DgxA100(4), TestGpu(80)).value();
    std::vector<NcclHost> hosts = {h100, a100, h100, a100, four_nics};
    for (const TestHost host : {kH100Sharp, kA100Sharp, kA100FourNicsSharp}) {
      hosts[host].collnet = true;
    }
    return new NcclWorld(
        NcclWorld::Create(NcclLibrary::Load().value(), hosts, ExpansionSettings()).value());
  }();
  return *world;
}

const NcclSettings& ExpansionSettings() {
  static const NcclSettings settings = {{"NCCL_COLLNET_ENABLE", "1"}};
  return settings;
}

int GroupShape::ranks() const {
  size_t ranks = 0;
  for (const std::vector<int>& each : gpus) ranks += each.size();
  return static_cast<int>(ranks);
}

std::vector<hacknccl_place> GroupShape::Places() const {
  std::vector<hacknccl_place> places;
  const auto hosts = static_cast<int>(gpus.size());
  if (!round_robin) {
    for (int h = 0; h < hosts; ++h) {
      for (const int gpu : gpus[static_cast<size_t>(h)]) places.push_back({h, host, gpu});
    }
    return places;
  }
  for (size_t turn = 0; static_cast<int>(places.size()) < ranks(); ++turn) {
    for (int h = 0; h < hosts; ++h) {
      const std::vector<int>& own = gpus[static_cast<size_t>(h)];
      if (turn < own.size()) places.push_back({h, host, own[turn]});
    }
  }
  return places;
}

std::string GroupShape::ToString() const {
  return fmt::format("{} ranks on hosts of class {}{}: {}", ranks(), static_cast<int>(host),
                     round_robin ? ", in turns" : "", gpus);
}

GroupShape SameGpusOnHosts(TestHost host, int hosts, const std::vector<int>& gpus) {
  return {host, std::vector(static_cast<size_t>(hosts), gpus), false};
}

NcclCommunicator Open(const GroupShape& shape) {
  return ExpansionWorld().CreateCommunicator(shape.Places()).value();
}

NcclCommunicator OpenH100s(int hosts, int gpus_per_host) {
  return Open(
      SameGpusOnHosts(kH100, hosts, {kAllEight.begin(), kAllEight.begin() + gpus_per_host}));
}

const std::vector<KernelChoice>& KernelChoices() {
  static const std::vector<KernelChoice> choices = [] {
    std::vector<KernelChoice> out;
    for (const int protocol : {HACKNCCL_LL, HACKNCCL_LL128, HACKNCCL_SIMPLE}) {
      for (const int function : {HACKNCCL_ALL_REDUCE, HACKNCCL_ALL_GATHER, HACKNCCL_REDUCE_SCATTER,
                                 HACKNCCL_BROADCAST, HACKNCCL_REDUCE}) {
        out.push_back({function, HACKNCCL_RING, protocol});
      }
      out.push_back({HACKNCCL_ALL_REDUCE, HACKNCCL_TREE, protocol});
    }
    for (const int algorithm :
         {HACKNCCL_NVLS, HACKNCCL_NVLS_TREE, HACKNCCL_COLLNET_DIRECT, HACKNCCL_COLLNET_CHAIN}) {
      out.push_back({HACKNCCL_ALL_REDUCE, algorithm, HACKNCCL_SIMPLE});
    }
    for (const int function : {HACKNCCL_ALL_GATHER, HACKNCCL_REDUCE_SCATTER}) {
      for (const int algorithm : {HACKNCCL_PAT, HACKNCCL_NVLS, HACKNCCL_COLLNET_DIRECT}) {
        out.push_back({function, algorithm, HACKNCCL_SIMPLE});
      }
    }
    return out;
  }();
  return choices;
}

namespace {

// On hosts of different sizes NCCL builds chains that end at a rank without a connection to the
// network; ExpandCollective then reports that rank.
bool ChainsEndAtTheNetwork(const NcclCommunicator& comm) {
  for (int c = 0; c < comm.shape().ring_channels; ++c) {
    const std::vector<hacknccl_collnet> places = comm.CollNet(c).value();
    const auto lost = [](const hacknccl_collnet& place) {
      return place.chain_up == -1 && place.nic == -1;
    };
    if (std::any_of(places.begin(), places.end(), lost)) return false;
  }
  return true;
}

// NCCL's condition for sending parts through the switches: every rank is a head.
bool EveryRankIsAHead(const NcclCommunicator& comm) {
  const std::vector<int>& hosts = comm.hosts();
  for (int host = 0; host < comm.shape().hosts; ++host) {
    if (std::count(hosts.begin(), hosts.end(), host) != comm.shape().collnet_heads) return false;
  }
  return true;
}

}  // namespace

bool Offers(const NcclCommunicator& comm, const KernelChoice& choice) {
  const hacknccl_shape& shape = comm.shape();
  const bool whole = choice.function == HACKNCCL_ALL_REDUCE;
  const bool switches =
      shape.collnet_heads > 0 && shape.hosts > 1 && (whole || EveryRankIsAHead(comm));
  switch (choice.algorithm) {
    case HACKNCCL_NVLS:
      return shape.nvls_channels > 0 && (shape.hosts == 1 || switches);
    case HACKNCCL_NVLS_TREE:
      return shape.nvls_channels > 0 && shape.hosts > 1;
    case HACKNCCL_COLLNET_DIRECT:
      return switches;
    case HACKNCCL_COLLNET_CHAIN:
      return switches && ChainsEndAtTheNetwork(comm);
    case HACKNCCL_PAT:
      return shape.hosts == shape.ranks;
    default:
      return true;
  }
}

hacknccl_collective KernelWork(const NcclCommunicator& comm, const KernelChoice& choice,
                               int element_bytes, int64_t elements, int64_t chunk, int channels) {
  CHECK(elements > 0 && chunk > 0 && chunk % 16 == 0 && channels > 0);
  channels = static_cast<int>(std::clamp<int64_t>(elements / 16, 1, channels));
  hacknccl_collective work = {};
  work.function = choice.function;
  work.algorithm = choice.algorithm;
  work.protocol = choice.protocol;
  work.element_bytes = element_bytes;
  work.channel_hi = channels - 1;
  work.warps = 16;
  work.count = static_cast<uint64_t>(elements);
  const bool around = choice.function != HACKNCCL_BROADCAST && choice.function != HACKNCCL_REDUCE;
  const bool sliced =
      around && choice.algorithm == HACKNCCL_RING && choice.protocol == HACKNCCL_SIMPLE;
  work.chunk_steps = sliced ? 4 : 1;
  work.slice_steps = sliced ? 2 : 1;
  work.chunk_lo = static_cast<uint64_t>(chunk);
  work.even = choice.algorithm == HACKNCCL_COLLNET_DIRECT ||
              choice.algorithm == HACKNCCL_COLLNET_CHAIN ||
              (choice.algorithm == HACKNCCL_NVLS && comm.shape().hosts > 1);
  if (work.even || channels == 1) {
    work.count_lo = work.count;
    return work;
  }
  // The first channel has half of the share of the middle channels, the last has the rest.
  work.chunk_mid = work.chunk_hi = work.chunk_lo;
  const int64_t share = elements / channels / 16 * 16;
  work.count_lo = static_cast<uint64_t>(share / 2);
  work.count_mid = static_cast<uint64_t>(channels > 2 ? share : 0);
  work.count_hi = work.count - work.count_lo - work.count_mid * static_cast<uint64_t>(channels - 2);
  return work;
}

CommCall CallOf(const NcclCommunicator& comm, const hacknccl_collective& work) {
  CommCall call;
  switch (work.function) {
    case HACKNCCL_ALL_GATHER:
      call.collective = CollectiveType::kAllGather;
      break;
    case HACKNCCL_REDUCE_SCATTER:
      call.collective = CollectiveType::kReduceScatter;
      break;
    case HACKNCCL_BROADCAST:
      call.collective = CollectiveType::kBroadcast;
      break;
    case HACKNCCL_REDUCE:
      call.collective = CollectiveType::kReduce;
      break;
    default:
      CHECK(work.function == HACKNCCL_ALL_REDUCE);
      call.collective = CollectiveType::kAllReduce;
  }
  call.type = work.element_bytes == 1   ? DataType::kUint8
              : work.element_bytes == 2 ? DataType::kBf16
              : work.element_bytes == 4 ? DataType::kFp32
                                        : DataType::kFp64;
  call.group_size = comm.shape().ranks;
  call.count = static_cast<int64_t>(work.count);
  if (HasParts(call.collective)) call.count *= call.group_size;
  call.root = work.root;
  return call;
}

}  // namespace drydock
