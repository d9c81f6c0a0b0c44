#include "study/goodput/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/schema/host/host_memory_file.h"

namespace drydock {
namespace {

// Of a parameter: in 16 bits, and the optimizer's fp32 copy and two moments (Megatron, ZeRO); or
// in fp32 with two moments (FSDP).
constexpr double kParameter = 2, kStates = 12;
constexpr double kShardParameter = 4, kShardStates = 8;

struct Held {
  double parameters = 0, states = 0;
};

Held HeldBy(const std::vector<MemoryPart>& parts) {
  Held held;
  for (const MemoryPart& part : parts) {
    if (part.name == "parameters") held.parameters = static_cast<double>(part.bytes.count());
    if (part.name == "optimizer states") held.states = static_cast<double>(part.bytes.count());
  }
  return held;
}

// FSDP's shards: on every rank two bytes of states for one of parameters, and together a whole
// number of copies.
bool AreShards(const std::vector<Held>& by_class, double parameters, double all) {
  for (const Held& held : by_class) {
    if (std::abs(held.states - 2 * held.parameters) > 0.01 * held.states) return false;
  }
  const double copies = all / (parameters * kShardParameter);
  return copies > 0.9 && std::abs(copies - std::round(copies)) < 0.05 * copies;
}

double Longest(double all, Bandwidth rate, double of_host, Bandwidth host_rate) {
  const double seconds = all / rate.bytes_per_second();
  if (host_rate == Bandwidth()) return seconds;
  return std::max(seconds, of_host / host_rate.bytes_per_second());
}

}  // namespace

std::optional<CheckpointSize> SizeOfCheckpoint(const Workload& workload,
                                               std::optional<Bytes> stated) {
  const int hosts = workload.topology.host_count();
  if (stated) {
    const auto bytes = static_cast<double>(stated->count());
    return CheckpointSize{bytes, bytes, bytes / hosts};
  }
  if (workload.memory.empty() || workload.totals.parameters <= 0) return std::nullopt;
  std::vector<Held> by_class;
  for (const std::vector<MemoryPart>& parts : workload.memory) by_class.push_back(HeldBy(parts));
  Held all;
  std::vector<double> by_host(static_cast<size_t>(hosts), 0);
  const Placement placement(workload.topology);
  for (int rank = 0; rank < workload.rank_count(); ++rank) {
    const Held& held =
        by_class[static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)])];
    all.parameters += held.parameters;
    all.states += held.states;
    by_host[static_cast<size_t>(placement.of(rank).host)] += held.parameters + held.states;
  }
  const auto count = static_cast<double>(workload.totals.parameters);
  const bool shards = AreShards(by_class, count, all.parameters);
  CheckpointSize size;
  // Without replicas, all that the ranks hold is there once.
  size.written = std::min(all.parameters, count * (shards ? kShardParameter : kParameter)) +
                 std::min(all.states, count * (shards ? kShardStates : kStates));
  size.read = all.parameters + all.states;
  size.host_read = *std::max_element(by_host.begin(), by_host.end());
  return size;
}

Result<CheckpointTimes> TimesOf(const CheckpointSize& size, const Topology& topology) {
  const Storage& storage = *topology.storage;
  CheckpointTimes times;
  times.write =
      Longest(size.written, storage.write, size.written / topology.host_count(), storage.host);
  times.read = Longest(size.read, storage.read, size.host_read, storage.host);
  const std::string path = ConfigDirectory() + "/host-memory.yaml";
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(const HostMemoryDefaults defaults, ParseHostMemoryFile(text, path));
  for (int host = 0; host < topology.host_count(); ++host) {
    const HostKind& kind = topology.kind_of_host(host);
    const GpuSpec& gpu = topology.gpus[static_cast<size_t>(kind.gpu)];
    const Bandwidth link = kind.board.c2c > Bandwidth() ? kind.board.c2c : gpu.pcie;
    const double rate = link.bytes_per_second() * WithDefaults(kind, gpu, defaults).copy_efficiency;
    times.snapshot = std::max(times.snapshot, size.written / topology.gpu_count() / rate);
  }
  return times;
}

}  // namespace drydock
