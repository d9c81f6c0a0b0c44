// The peak memory of a rank, by kind of content, and whether that memory fits its GPU.
#ifndef DRYDOCK_WORKLOAD_GEN_MEMORY_RANK_MEMORY_H_
#define DRYDOCK_WORKLOAD_GEN_MEMORY_RANK_MEMORY_H_

#include <string>
#include <vector>

#include "core/model/workload.h"
#include "workload-gen/layout/layout.h"
#include "workload-gen/memory/activation_memory.h"

namespace drydock {

// Bytes of a rank's parameters and of the states that belong to them.
struct StateMemory {
  int64_t parameters = 0;
  int64_t gradients = 0;
  int64_t optimizer = 0;
  int64_t gathered = 0;  // parameters of other ranks during their use
  int64_t buffers = 0;   // of gradients that wait for their reduction
};

// Returns the states of a stage's ranks under Megatron: parameters in the training precision, main
// gradients, fp32 copy and two moments. The distributed optimizer shards the copy and the moments.
StateMemory MegatronStates(const TrainingJob& job, const ParallelLayout& layout, int stage);

// Fills Workload::memory from the programs and `states` (one per class). `activations` says which
// tensors the framework saves for backward.
void FillMemory(const MemoryRules& rules, const ActivationRules& activations,
                const std::vector<StateMemory>& states, Workload* workload);

// Returns "52.1 GB of 80 GB on ranks of class 3 (parameters 10 GB, ...): fits".
std::string MemoryText(const Workload& workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEMORY_RANK_MEMORY_H_
