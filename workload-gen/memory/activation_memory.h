// Computes the peak memory of a rank's activations by walking its program. Each forward op saves
// tensors for one layer of one micro-batch, recomputation restores the tensors that were not saved,
// and the backward of that layer frees all of them. The result therefore reflects the program's
// schedule, stages, interleaving and recomputation.
#ifndef DRYDOCK_WORKLOAD_GEN_MEMORY_ACTIVATION_MEMORY_H_
#define DRYDOCK_WORKLOAD_GEN_MEMORY_ACTIVATION_MEMORY_H_

#include "core/model/workload.h"

namespace drydock {

struct ActivationRules {
  // If true, rows that sequence parallelism splits are saved split and gathered again in backward
  // (Megatron). If false, the gathered rows are saved.
  bool saves_split_rows = true;
  int tensor = 1;
  // If true, selective recomputation saves the outputs of the submodules that it does not repeat
  // (PyTorch's selective checkpoints). If false, it saves their inputs.
  bool keeps_outputs = false;
};

struct ActivationMemory {
  Bytes peak;      // of all saved tensors
  Bytes of_layer;  // saved by the largest layer for one micro-batch
  Bytes working;   // operands of the largest single kernel
};

ActivationMemory WalkActivations(const Workload& workload, const Program& program,
                                 const ActivationRules& rules);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEMORY_ACTIVATION_MEMORY_H_
