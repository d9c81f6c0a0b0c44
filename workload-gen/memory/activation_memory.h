// Computes the peak memory of a rank's activations by walking its program. Each forward submodule
// saves tensors for one layer of one micro-batch, recomputation restores the tensors that were not
// saved, and the backward of a submodule frees its tensors. The result therefore reflects the
// program's schedule, stages, interleaving and recomputation.
#ifndef DRYDOCK_WORKLOAD_GEN_MEMORY_ACTIVATION_MEMORY_H_
#define DRYDOCK_WORKLOAD_GEN_MEMORY_ACTIVATION_MEMORY_H_

#include <cstdint>
#include <vector>

#include "core/model/workload.h"
#include "workload-gen/memory/caching_allocator.h"
#include "workload-gen/memory/state_memory.h"
#include "workload-gen/memory/working_tensors.h"

namespace drydock {

struct ActivationRules {
  // If true, rows that sequence parallelism splits are saved split and gathered again in backward
  // (Megatron). If false, the gathered rows are saved.
  bool saves_split_rows = true;
  int tensor = 1;
  // If true, selective recomputation saves the outputs of the submodules that it does not repeat
  // (PyTorch's selective checkpoints). If false, it saves their inputs.
  bool keeps_outputs = false;
  // Bytes of the gradient that passes beside a branch while the branch runs backward.
  int64_t residual = 0;
  // If true, head and word embedding are one weight on one rank, and the head's part of its
  // gradient waits for the embedding's part.
  bool head_gradient_waits = false;
  // If true, attention saves its result apart from the input of the next product: context
  // parallelism exchanges heads for rows in between, or that product saves no input or another.
  bool keeps_attention = false;
  // Bytes of saved tensors that wait on the host at the peak.
  int64_t offloaded = 0;
  // If true, attention gathers keys that it does not save.
  bool gathers_keys = false;
  // If true, each head of queries has a copy of its keys and values (repeat_kv of torchtitan and
  // Hugging Face), as it always has in unfused attention.
  bool repeats_keys = false;
  // If true, a gated activation is two operators, and the second saves what the first wrote.
  bool keeps_gates = false;
  WorkingRules working;
};

struct ActivationMemory {
  Bytes of_layer;               // saved by the largest layer for one micro-batch
  std::vector<Bytes> by_layer;  // saved by each layer, by its number
  // At the fullest moment of saved, working and held tensors together:
  Bytes peak;     // of saved tensors, as many as there ever are if nothing is held
  Bytes working;  // the rest of saved and working tensors
  HeldBytes held{};
  // By op of the program: saved, working and held tensors at its fullest moment.
  std::vector<int64_t> by_op;
};

// `held`: allocated and freed on the way (StateMemory::held). `allocator`: gets each tensor and
// gives it back; null: none. All tensors of the walk are free again at its end.
ActivationMemory WalkActivations(const Workload& workload, const Program& program,
                                 const ActivationRules& rules,
                                 const std::vector<HeldChange>& held = {},
                                 CachingAllocator* allocator = nullptr);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEMORY_ACTIVATION_MEMORY_H_
