// What a workload's ranks need of their GPUs' memory, all together. Pure functions of the parts
// that workload-gen found (Workload::memory).
#ifndef DRYDOCK_CORE_MODEL_MEMORY_TOTAL_H_
#define DRYDOCK_CORE_MODEL_MEMORY_TOTAL_H_

#include <optional>
#include <string>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

Bytes TotalOf(const std::vector<MemoryPart>& parts);

struct MemoryVerdict {
  int class_index = 0;  // whose ranks need most
  Bytes total;          // at their fullest moment
  Bytes capacity;       // of the cluster's smallest GPU
  bool fits() const { return total <= capacity; }
};
// Nothing if the workload does not say.
std::optional<MemoryVerdict> JudgeMemory(const Workload& workload);

// "52.1 GB of 80 GB: fits", "91 GB of 80 GB: does NOT fit".
std::string ToString(const MemoryVerdict& verdict);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_MEMORY_TOTAL_H_
