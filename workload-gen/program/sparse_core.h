// Writes DeepSeek sparse attention with its indexer and its communication (dsa.py of
// Megatron-Core): tensor ranks gather the rows that the indexer reads and add up its target over
// their heads; context parallelism gathers latent keys and the indexer's keys.
#ifndef DRYDOCK_WORKLOAD_GEN_PROGRAM_SPARSE_CORE_H_
#define DRYDOCK_WORKLOAD_GEN_PROGRAM_SPARSE_CORE_H_

#include "workload-gen/program/tensor_parallel.h"
#include "workload-gen/program/writer_context.h"

namespace drydock {

class SparseCore {
 public:
  explicit SparseCore(const WriterContext& context) : c_(context), tensor_(context) {}

  // `learns`: autograd records the pass. Otherwise the layer is repeated later, which computes the
  // loss of the indexer then.
  void Forward(const SparseCoreWork& work, bool learns);
  // Attention and the products with the values' half of the up-projection.
  void AttentionBackward(const SparseCoreWork& work);
  // The indexer, if it learns: up to the gradients of its weights.
  void IndexerBackward(const SparseCoreWork& work);
  // The products of queries with the keys' half, and the gradient of the whole up-projection.
  void AbsorbBackward(const SparseCoreWork& work);

 private:
  void Indexer(const SparseCoreWork& work, uint32_t index);
  void Target(const SparseCoreWork& work, uint32_t target);
  // Among context ranks; `count`: the elements of one rank.
  void Exchange(CollectiveType collective, int64_t count);
  void WeightGradient(const LinearWork& linear);

  const WriterContext& c_;
  TensorParallel tensor_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_PROGRAM_SPARSE_CORE_H_
