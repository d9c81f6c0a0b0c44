#include "capture/run/process_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "core/base/plural.h"

namespace drydock::capture {
namespace {

// CUDA's context, before NCCL: what workload-gen assumes, too (memory.cuda_context).
constexpr int64_t kContextBytes = 600'000'000;

// "h100-sxm-80g" is "NVIDIA H100 SXM 80G".
std::string ProductName(const GpuSpec& gpu) {
  std::string name = "NVIDIA ";
  for (const char c : gpu.name) {
    name += c == '-' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

}  // namespace

Result<std::vector<RankPlace>> PlaceRanks(const Topology& topology, int world, int ranks_per_host) {
  std::vector<RankPlace> places;
  int first = 0;
  for (int host = 0; host < topology.host_count(); ++host) {
    const int gpus = topology.kind_of_host(host).gpus;
    if (ranks_per_host > gpus) {
      return Error(fmt::format("{} ranks on a host: host {} of the cluster has {}", ranks_per_host,
                               host, Plural(gpus, "GPU")));
    }
    const int left = world - static_cast<int>(places.size());
    const int here = std::min(ranks_per_host > 0 ? ranks_per_host : gpus, left);
    for (int local = 0; local < here; ++local) {
      places.push_back({host, first + local, local, here, 0});
    }
    if (here == left) break;
    first += gpus;
  }
  if (static_cast<int>(places.size()) < world) {
    return Error(fmt::format("{} ranks: the cluster has places for {}", world, places.size()));
  }
  for (RankPlace& place : places) place.ranks_per_host = places.front().ranks_beside;
  return places;
}

CapturedProcess FactsOf(const Topology& topology, const RankPlace& place, int rank) {
  const HostKind& kind = topology.kind_of_host(place.host);
  const GpuSpec& gpu = topology.gpus[static_cast<size_t>(kind.gpu)];
  CapturedProcess facts;
  facts.rank = rank;
  facts.ranks_per_host = place.ranks_per_host;
  facts.gpus = std::min(kind.gpus, CapturedProcess::kMaxGpus);
  facts.compute_capability = gpu.compute_capability;
  facts.sms = gpu.sms;
  facts.clock_khz = gpu.clock_mhz * 1000;
  facts.nvlink = gpu.nvlink.bytes_per_second() > 0 ? 1 : 0;
  facts.memory_bytes = gpu.memory.count();
  facts.context_bytes = kContextBytes;
  facts.l2_bytes = gpu.l2.count();
  snprintf(facts.driver, sizeof facts.driver, "%s", kDriverVersion);
  snprintf(facts.name, sizeof facts.name, "%s", ProductName(gpu).c_str());
  return facts;
}

}  // namespace drydock::capture
