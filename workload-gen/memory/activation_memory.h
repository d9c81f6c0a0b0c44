// How much memory a rank's activations take at most, found by walking its program: each forward op
// leaves tensors behind for a micro-batch's layer, recomputation makes those that were not kept,
// and that layer's backward frees them all. So schedules, stages, interleaving and recomputation
// count as the program has them.
#ifndef DRYDOCK_WORKLOAD_GEN_MEMORY_ACTIVATION_MEMORY_H_
#define DRYDOCK_WORKLOAD_GEN_MEMORY_ACTIVATION_MEMORY_H_

#include "core/model/workload.h"

namespace drydock {

struct ActivationRules {
  // Rows that sequence parallelism splits are saved split, and gathered again in backward
  // (Megatron). Else what was gathered is saved.
  bool saves_split_rows = true;
  int tensor = 1;
  // What selective recomputation does not repeat is kept by its output (PyTorch's selective
  // checkpoints), not by its input.
  bool keeps_outputs = false;
};

struct ActivationMemory {
  Bytes most;      // at once
  Bytes of_layer;  // what the largest layer keeps for one micro-batch
  Bytes working;   // operands of the largest single kernel
};

ActivationMemory WalkActivations(const Workload& workload, const Program& program,
                                 const ActivationRules& rules);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEMORY_ACTIVATION_MEMORY_H_
