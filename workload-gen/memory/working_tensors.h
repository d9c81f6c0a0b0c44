// The tensors that live only while a submodule runs: what it reads without saving it, what it
// writes, and buffers of its own. The order of allocation follows Megatron-Core, Transformer Engine
// and PyTorch's autograd engine.
#ifndef DRYDOCK_WORKLOAD_GEN_MEMORY_WORKING_TENSORS_H_
#define DRYDOCK_WORKLOAD_GEN_MEMORY_WORKING_TENSORS_H_

#include <cstdint>
#include <vector>

#include "core/model/workload.h"

namespace drydock {

// What the loss keeps for backward, of rows x vocabulary.
enum class LossTensors : uint8_t {
  kSoftmax,          // Megatron: the softmax in fp32, computed in place
  kCompiledSoftmax,  // Megatron's native fusion: the same, computed from another tensor in fp32
  kGradientInPlace,  // Transformer Engine: the gradient of the logits, in the place of the logits
  kEager,            // cross_entropy of PyTorch: the logarithm of the softmax in fp32
  kEagerSplit,       // the same over tensor ranks (loss_parallel of torch.distributed.tensor)
  kCompiled          // cross_entropy under torch.compile: the logits
};

struct WorkingRules {
  LossTensors loss = LossTensors::kSoftmax;
  // If true, a weight gradient that its product does not add to the main gradient is a tensor of
  // its own until a kernel adds it.
  bool weight_gradients = false;
  int ring = 1;  // context-parallel ranks that pass keys and values around a ring
};

// Tensors that live at one time, in bytes each.
using TensorSizes = std::vector<int64_t>;
int64_t TotalOf(const TensorSizes& tensors);

// Of a forward submodule, beside the tensors that SavedBy counts.
TensorSizes WorkingForward(const Submodule& forward, const WorkingRules& rules);
// Of a backward submodule: the gradients of its outputs and inputs, and its own buffers.
TensorSizes WorkingBackward(const Submodule& backward, const WorkingRules& rules);
// Bytes of the gradient of the weight that belongs to the submodule, or 0 without one.
Bytes WeightGradientOf(const Submodule& backward, const WorkingRules& rules);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEMORY_WORKING_TENSORS_H_
