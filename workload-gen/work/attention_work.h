// The submodules of a layer's attention on one rank, and the steps into which context parallelism
// splits its core. submodule_maker.h defines rows.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_ATTENTION_WORK_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_ATTENTION_WORK_H_

#include <cstdint>
#include <optional>

#include "workload-gen/work/submodule_maker.h"

namespace drydock {

// The kernels between the steps of PyTorch's ring: sums are fp32, and all query heads have keys.
struct TorchRingWork {
  std::optional<ForwardBackwardWork> repeat;  // keys and values for each query head
  uint32_t pack = 0;                          // copies keys and values into one buffer
  uint32_t first_output = 0, merge_output = 0, last_output = 0;
  uint32_t merge_queries = 0, merge_keys = 0, last_gradients = 0;
};

// Around attention in fp8, forward: queries, keys and values are quantized, the output is cast to
// 16 bits. Backward: the reverse, of the gradients.
struct Fp8CoreWork {
  ForwardBackwardWork queries, keys, values, outputs;
};

// Without context parallelism and with a2a, only `first` is used. p2p: `first` works on the rank's
// own keys, `other` is each later step of the ring; a2a+p2p does so with its part of the heads.
// all-gather: the rank runs `first` for each of its two chunks. With a causal mask, a step is the
// mean over the ranks, which do equal work.
struct CoreWork {
  ForwardBackwardWork first, other;
  std::optional<TorchRingWork> torch;  // FSDP: PyTorch runs the ring
  std::optional<Fp8CoreWork> fp8;
  DataType type = DataType::kBf16;  // of what attention reads, and ranks exchange
  // p2p: scales the output of the first step, adds that of a later step; copies the query gradient
  // of the first step, adds that of a later step; adds the gradient of keys and values of a step.
  uint32_t scale_output = 0, merge_output = 0;
  uint32_t copy_queries = 0, merge_queries = 0;
  uint32_t merge_gradient = 0;
  // Elements on this rank before any exchange.
  int64_t queries = 0, keys = 0, values = 0, outputs = 0;
};

// Multi-head latent attention (DeepSeek-V2, section 2.1). The narrow projections are whole on each
// tensor rank and process its own rows; the wide ones are split by heads.
struct LatentWork {
  std::optional<LinearWork> q_down;  // without it, the input of q_up has the hidden width
  std::optional<ForwardBackwardWork> q_norm;
  LinearWork q_up;
  LinearWork kv_down;
  ForwardBackwardWork kv_norm;
  LinearWork kv_up;  // unless sparse
};

// DeepSeek sparse attention (AbsorbedMLASelfAttention, DSAttention and DSAIndexer of
// Megatron-Core): keys and values stay latent, and an indexer picks the keys of each query.
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
  uint32_t unlearned_index = 0;  // the forward of `index` where no loss follows
  std::optional<ForwardBackwardWork> target;  // unless the indexer learns nothing
  ForwardBackwardWork attention;
  // Elements in fp32 of the target, which tensor ranks add up over their heads.
  int64_t target_count = 0;
  int64_t keys = 0, index_keys = 0;  // elements of this rank before they are gathered
  // When the target and the indexer's gradients are computed: PyTorch's operators compute the
  // target in both passes, and cuDNN's kernels the gradients in the forward pass.
  bool target_again = false, gradients_early = false;
  bool skips_rows = false;  // backward, the host waits for the number of rows that picked a key
};

struct AttentionWork {
  std::optional<ForwardBackwardWork> norm;
  LinearWork qkv;  // unless latent
  // With fewer key heads than tensor ranks, each rank gathers the output of `qkv` and takes its
  // heads from that output.
  int64_t gathered_width = 0;
  std::optional<LatentWork> latent;
  std::optional<ForwardBackwardWork> q_norm, k_norm;
  bool whole_norms = false;  // of all heads: tensor-parallel ranks add up their squares
  std::optional<ForwardBackwardWork> rotary;
  CoreWork core;  // unless sparse
  std::optional<SparseCoreWork> sparse;
  std::optional<ForwardBackwardWork> gate;
  LinearWork proj;
  std::optional<ForwardBackwardWork> post_norm;
  ForwardBackwardWork residual;
};

// REQUIRES: the layer has attention.
AttentionWork MakeAttention(SubmoduleMaker* maker, const LayerParts& parts);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_ATTENTION_WORK_H_
