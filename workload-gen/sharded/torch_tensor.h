// Writes the tensor-parallel communication of PyTorch's modules: DTensor's collectives, and those
// that torch.compile splits over parts of a product (asynchronous tensor parallelism,
// torch/distributed/_symmetric_memory). torchao's casts to fp8 go with them.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_TENSOR_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_TENSOR_H_

#include <vector>

#include "workload-gen/program/writer_context.h"
#include "workload-gen/sharded/torch_model.h"

namespace drydock {

// Sizes are those of all rows of a micro-batch on this rank, of the model's hidden size.
class TorchTensor {
 public:
  explicit TorchTensor(const WriterContext& context) : c_(context) {}

  void Cast(const ScaledCast& cast);
  void Gather(DataType type);
  void Scatter();
  // Products of all rows, whose inputs copy engines fetch from the other ranks: the parts of this
  // rank's rows first, then those of each rank as its rows arrive.
  void GatherBetween(const std::vector<uint32_t>& parts, DataType type);
  // A product whose parts go to the ranks that own their rows, each beside the next part. The part
  // of this rank is the last; `sum` adds up the parts of all ranks.
  void ScatterBetween(uint32_t part, uint32_t sum);

 private:
  void Copy(const char* name, int64_t count, DataType type);
  // Copies all rows. Sequence parallelism splits the second dimension, and collectives split
  // the first: gathered rows, and those before a reduce-scatter, are put in order.
  void Order(DataType type);
  // Every rank's part of the rows goes to the rank `hop` places further.
  CommCall Copies(DataType type, int hop) const;

  const WriterContext& c_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_TENSOR_H_
