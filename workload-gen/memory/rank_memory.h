// The peak memory of a rank, by kind of content, and whether that memory fits its GPU.
#ifndef DRYDOCK_WORKLOAD_GEN_MEMORY_RANK_MEMORY_H_
#define DRYDOCK_WORKLOAD_GEN_MEMORY_RANK_MEMORY_H_

#include <string>
#include <vector>

#include "core/model/workload.h"
#include "workload-gen/framework/memory_detail.h"
#include "workload-gen/layout/layout.h"
#include "workload-gen/memory/activation_memory.h"
#include "workload-gen/memory/state_memory.h"

namespace drydock {

// Fills Workload::memory and pytorch from the programs and `states` (one per class). `activations`
// says which tensors the framework saves for backward. Without detail.reserved, pytorch stays
// empty.
void FillMemory(const MemoryRules& rules, const ActivationRules& activations,
                const std::vector<StateMemory>& states, const MemoryDetail& detail,
                Workload* workload);

// Returns "52.1 GB of 80 GB on ranks of class 3 (parameters 10 GB, ...): fits".
std::string MemoryText(const Workload& workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEMORY_RANK_MEMORY_H_
