#include "core/model/memory_total.h"

#include <fmt/format.h>

#include <algorithm>

namespace drydock {
namespace {

double Gigabytes(Bytes bytes) { return static_cast<double>(bytes.count()) / 1e9; }

}  // namespace

Bytes TotalOf(const std::vector<MemoryPart>& parts) {
  Bytes total;
  for (const MemoryPart& part : parts) total += part.bytes;
  return total;
}

Bytes SmallestGpu(const Topology& topology) {
  Bytes least;
  for (int host = 0; host < topology.host_count(); ++host) {
    const auto gpu = static_cast<size_t>(topology.kind_of_host(host).gpu);
    const Bytes memory = topology.gpus[gpu].memory;
    least = host == 0 ? memory : std::min(least, memory);
  }
  return least;
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
  verdict.capacity = SmallestGpu(workload.topology);
  return verdict;
}

std::string ToString(const PyTorchPeaks& peaks) {
  return fmt::format("max_memory_allocated {:.2f} GB, max_memory_reserved {:.2f} GB",
                     Gigabytes(peaks.allocated), Gigabytes(peaks.reserved));
}

std::string ToString(const MemoryVerdict& verdict) {
  return fmt::format("{:.1f} GB of {:.1f} GB: {}", Gigabytes(verdict.total),
                     Gigabytes(verdict.capacity), verdict.fits() ? "fits" : "does NOT fit");
}

}  // namespace drydock
