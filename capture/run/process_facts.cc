#include "capture/run/process_facts.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace drydock::capture {
namespace {

// Of the driver and its libraries on a GPU of today: CUDA's context, before NCCL.
constexpr int64_t kContextBytes = int64_t{600} << 20;

const HostKind& KindOf(const Topology& topology, int rank) {
  int first = 0;
  for (int host = 0; host < topology.host_count(); ++host) {
    const HostKind& kind = topology.kind_of_host(host);
    if (rank < first + kind.gpus) return kind;
    first += kind.gpus;
  }
  CHECK(false);
}

// "h100-sxm-80g" is "NVIDIA H100 SXM 80G".
std::string ProductName(const GpuSpec& gpu) {
  std::string name = "NVIDIA ";
  for (const char c : gpu.name) {
    name += c == '-' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

}  // namespace

int RanksBeside(const Topology& topology, int rank) { return KindOf(topology, rank).gpus; }

CapturedProcess FactsOf(const Topology& topology, int rank) {
  const HostKind& kind = KindOf(topology, rank);
  const GpuSpec& gpu = topology.gpus[static_cast<size_t>(kind.gpu)];
  CapturedProcess facts;
  facts.rank = rank;
  facts.gpus = std::min(kind.gpus, CapturedProcess::kMaxGpus);
  facts.compute_capability = gpu.compute_capability;
  facts.sms = gpu.sms;
  facts.clock_khz = gpu.clock_mhz * 1000;
  facts.nvlink = gpu.nvlink.bytes_per_second() > 0 ? 1 : 0;
  facts.memory_bytes = gpu.memory.count();
  facts.context_bytes = kContextBytes;
  facts.l2_bytes = gpu.l2.count();
  snprintf(facts.name, sizeof facts.name, "%s", ProductName(gpu).c_str());
  return facts;
}

}  // namespace drydock::capture
