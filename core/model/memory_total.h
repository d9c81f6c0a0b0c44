// How much GPU memory the ranks of a workload need in total. Pure functions of the parts in
// Workload::memory.
#ifndef DRYDOCK_CORE_MODEL_MEMORY_TOTAL_H_
#define DRYDOCK_CORE_MODEL_MEMORY_TOTAL_H_

#include <optional>
#include <string>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

Bytes TotalOf(const std::vector<MemoryPart>& parts);

// The memory of the cluster's smallest GPU.
Bytes SmallestGpu(const Topology& topology);

// Returns "max_memory_allocated 49.9 GB, max_memory_reserved 51.2 GB".
std::string ToString(const PyTorchPeaks& peaks);

struct MemoryVerdict {
  int class_index = 0;  // the rank class that needs most
  Bytes total;          // at the peak
  Bytes capacity;       // of the cluster's smallest GPU
  bool fits() const { return total <= capacity; }
};
// Returns nothing if the workload has no memory parts.
std::optional<MemoryVerdict> JudgeMemory(const Workload& workload);

// Returns "52.1 GB of 80 GB: fits" or "91 GB of 80 GB: does NOT fit".
std::string ToString(const MemoryVerdict& verdict);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_MEMORY_TOTAL_H_
