// What a rank holds through the whole step: its parameters and the states that belong to them, and
// buffers that libraries keep.
#ifndef DRYDOCK_WORKLOAD_GEN_MEMORY_STATE_MEMORY_H_
#define DRYDOCK_WORKLOAD_GEN_MEMORY_STATE_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/gpu.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

// What sharding holds for a part of the step only.
enum class HeldKind : uint8_t { kGathered, kGradients, kBuffers };
inline constexpr size_t kHeldKinds = 3;
using HeldBytes = std::array<int64_t, kHeldKinds>;  // by kind

// A tensor of that kind is allocated or freed before a submodule of an op of the program, or before
// the op if it has none.
struct HeldChange {
  size_t op = 0, submodule = 0;
  HeldKind kind = HeldKind::kGathered;
  size_t tensor = 0;  // a number for each tensor, from 0
  int64_t bytes = 0;  // less than 0: the tensor is freed
};

// In bytes.
struct StateMemory {
  int64_t parameters = 0;
  int64_t gradients = 0;
  int64_t optimizer = 0;
  int64_t gathered = 0;     // parameters of other ranks during their use
  int64_t buffers = 0;      // of gradients that wait for their reduction
  int64_t fp8_weights = 0;  // copies of parameters in fp8
  int64_t libraries = 0;    // workspaces and buffers that libraries keep
  int64_t exchange = 0;     // DeepEP's buffers for low latency, outside PyTorch's allocator
  int64_t step = 0;         // of the optimizer's step alone, when no activations are held
  // Sizes of tensors, for the allocator. Empty: not known.
  std::vector<int64_t> weights;  // as the model makes them, before a buffer takes their place
  std::vector<int64_t> parts;    // elements of the parts whose states this rank's optimizer has
  // In the order in which the host allocates and frees. What is left at the end of a step is freed
  // in the next.
  std::vector<HeldChange> held;
};

// Returns the workspaces of cuBLAS: PyTorch has one for the handle of the forward and one for that
// of autograd's thread.
int64_t CublasWorkspaces(const MemoryRules& rules, const GpuSpec& gpu);

// Returns the states of a stage's ranks under Megatron: parameters in the training precision, main
// gradients, fp32 copy and two moments. The distributed optimizer shards the copy and the moments.
StateMemory MegatronStates(const TrainingJob& job, const ParallelLayout& layout, int stage,
                           const GpuSpec& gpu);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEMORY_STATE_MEMORY_H_
