// Splits the parameters of a chunk into the buckets whose gradients are reduced together
// (Megatron's param_and_grad_buffer.py): buckets are filled in reverse registration order and
// closed by the parameter that reaches the size. Pure function.
#ifndef DRYDOCK_WORKLOAD_GEN_STAGES_GRADIENT_BUCKETS_H_
#define DRYDOCK_WORKLOAD_GEN_STAGES_GRADIENT_BUCKETS_H_

#include <cstdint>
#include <vector>

#include "workload-gen/work/transformer.h"

namespace drydock {

struct BucketRule {
  int64_t elements = 0;                // close at this size; 0 = one bucket
  bool distributed_optimizer = false;  // aligns and pads; the shared embedding has its own bucket
  int data = 1;                        // ranks that the gradients are summed over
  bool expert = false;                 // parameters of experts, or all others: two buffers
  // Of the layer-wise optimizer: matrices, each of which one rank holds whole, and all others.
  enum class Tensors : uint8_t { kAll, kMatrices, kOthers } tensors = Tensors::kAll;
};

struct Bucket {
  int64_t elements = 0;            // padding included
  std::vector<size_t> parameters;  // indices into the chunk's list
  bool expert = false;
  bool whole_tensors = false;  // no rank has a part of one
  int unit = -1;               // Megatron-FSDP: the layer; -1 outside layers
  // Weights whose products are quantized, and their elements; the caller fills them in.
  int64_t quantized_weights = 0, quantized = 0;
};

// The buckets of the rule's buffer, in order of filling: from the end of the model.
std::vector<Bucket> MakeBuckets(const std::vector<Parameter>& parameters, const BucketRule& rule);

// Megatron's default size.
int64_t DefaultBucketElements(int data);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_STAGES_GRADIENT_BUCKETS_H_
