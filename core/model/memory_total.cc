#include "core/model/memory_total.h"

#include <fmt/format.h>

#include <algorithm>

namespace drydock {

Bytes TotalOf(const std::vector<MemoryPart>& parts) {
  Bytes total;
  for (const MemoryPart& part : parts) total += part.bytes;
  return total;
}

std::optional<MemoryVerdict> JudgeMemory(const Workload& workload) {
  if (workload.memory.empty()) return std::nullopt;
  MemoryVerdict verdict;
  for (size_t c = 0; c < workload.memory.size(); ++c) {
    const Bytes total = TotalOf(workload.memory[c]);
    if (total <= verdict.total) continue;
    verdict.total = total;
    verdict.class_index = static_cast<int>(c);
  }
  const Topology& topology = workload.topology;
  for (int host = 0; host < topology.host_count(); ++host) {
    const auto gpu = static_cast<size_t>(topology.kind_of_host(host).gpu);
    const Bytes memory = topology.gpus[gpu].memory;
    verdict.capacity = host == 0 ? memory : std::min(verdict.capacity, memory);
  }
  return verdict;
}

std::string ToString(const MemoryVerdict& verdict) {
  const auto gb = [](Bytes bytes) { return static_cast<double>(bytes.count()) / 1e9; };
  return fmt::format("{:.1f} GB of {:.1f} GB: {}", gb(verdict.total), gb(verdict.capacity),
                     verdict.fits() ? "fits" : "does NOT fit");
}

}  // namespace drydock
