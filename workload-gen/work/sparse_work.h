// The submodules of DeepSeek sparse attention on one rank (AbsorbedMLASelfAttention, DSAttention
// and DSAIndexer of Megatron-Core): keys and values stay latent, and an indexer picks the keys of
// each query. submodule_maker.h defines rows.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_SPARSE_WORK_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_SPARSE_WORK_H_

#include <cstdint>
#include <optional>

#include "workload-gen/work/submodule_maker.h"

namespace drydock {

struct SparseCoreWork {
  // Queries are multiplied by the keys' half of the up-projection, and joined with their rotated
  // part; the output is multiplied by the values' half.
  LinearWork absorb, value_up;
  ForwardBackwardWork join, value_join;
  std::optional<uint32_t> accumulate;  // of the whole up-projection, if its gradient is added later
  // The indexer is whole on each tensor rank. Nothing reaches its inputs backward.
  LinearWork index_q, index_k, index_weights;
  ForwardBackwardWork index_norm, index_rotary, index_join, index_transform, index_scale;
  ForwardBackwardWork index;
  std::optional<ForwardBackwardWork> target;  // unless the indexer learns nothing
  ForwardBackwardWork attention;
  // Elements in fp32 of the target, which tensor ranks add up over their heads.
  int64_t target_count = 0;
  int64_t keys = 0, index_keys = 0;  // elements of this rank before they are gathered
  // When the target and the indexer's gradients are computed: PyTorch's operators compute the
  // target in both passes, and cuDNN's kernels the gradients in the forward pass.
  bool target_again = false, gradients_early = false;
};

SparseCoreWork MakeSparseCore(SubmoduleMaker* maker);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_SPARSE_WORK_H_
