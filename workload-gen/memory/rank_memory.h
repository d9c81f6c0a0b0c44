// What a rank holds at the moment it holds most, by what it is, and whether that fits its GPU.
#ifndef DRYDOCK_WORKLOAD_GEN_MEMORY_RANK_MEMORY_H_
#define DRYDOCK_WORKLOAD_GEN_MEMORY_RANK_MEMORY_H_

#include <string>
#include <vector>

#include "core/model/workload.h"
#include "workload-gen/layout/layout.h"
#include "workload-gen/memory/activation_memory.h"

namespace drydock {

// Of a rank's parameters and what belongs to them, in bytes.
struct StateMemory {
  int64_t parameters = 0;
  int64_t gradients = 0;
  int64_t optimizer = 0;
  int64_t gathered = 0;  // parameters of other ranks, while they are used
  int64_t buffers = 0;   // of gradients on their way
};

// Megatron's, of a stage's ranks: parameters in the training precision, main gradients, fp32 copy
// and two moments; the latter shared out by the distributed optimizer.
StateMemory MegatronStates(const TrainingJob& job, const ParallelLayout& layout, int stage);

// Fills Workload::memory from its programs and `states` (one a class). `activations`: what the
// framework saves for backward.
void FillMemory(const MemoryRules& rules, const ActivationRules& activations,
                const std::vector<StateMemory>& states, Workload* workload);

// "52.1 GB of 80 GB on ranks of class 3 (parameters 10 GB, ...): fits".
std::string MemoryText(const Workload& workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEMORY_RANK_MEMORY_H_
