// The submodules of a layer's attention on one rank, and the steps into which context parallelism
// splits its core. submodule_maker.h defines rows.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_ATTENTION_WORK_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_ATTENTION_WORK_H_

#include <cstdint>
#include <optional>

#include "workload-gen/work/submodule_maker.h"

namespace drydock {

// Without context parallelism and with a2a, only `first` is used. p2p: `first` works on the rank's
// own keys, `other` is each later step of the ring. all-gather: the rank runs `first` for each of
// its two chunks. With a causal mask, a step is the mean over the ranks, which do equal work.
struct CoreWork {
  TwoWayWork first, other;
  // p2p: scales the output of the first step, adds that of a later step; copies the query gradient
  // of the first step, adds that of a later step; adds the gradient of keys and values of a step.
  uint32_t scale_output = 0, merge_output = 0;
  uint32_t copy_queries = 0, merge_queries = 0;
  uint32_t merge_gradient = 0;
  // Elements on this rank before any exchange.
  int64_t queries = 0, keys = 0, values = 0, outputs = 0;
};

// Multi-head latent attention (DeepSeek-V2, section 2.1). The narrow projections are whole on each
// tensor rank and see its own rows; the wide ones are split by heads.
struct LatentWork {
  std::optional<LinearWork> q_down;  // without it, the input of q_up has the hidden width
  std::optional<TwoWayWork> q_norm;
  LinearWork q_up;
  LinearWork kv_down;
  TwoWayWork kv_norm;
  LinearWork kv_up;
};

struct AttentionWork {
  TwoWayWork norm;
  LinearWork qkv;  // unless latent
  // With fewer key heads than tensor ranks, each rank gathers the product and takes its heads from
  // it.
  int64_t gathered_width = 0;
  std::optional<LatentWork> latent;
  std::optional<TwoWayWork> q_norm, k_norm;
  std::optional<TwoWayWork> rotary;
  CoreWork core;
  LinearWork proj;
  std::optional<TwoWayWork> post_norm;
  TwoWayWork residual;
};

// `windowed`: a query sees the model's window only.
AttentionWork MakeAttention(SubmoduleMaker* maker, bool windowed);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_ATTENTION_WORK_H_
