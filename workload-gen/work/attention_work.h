// The submodules of a layer's attention on one rank, and the pieces that context parallelism cuts
// its core into. Rows: submodule_maker.h.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_ATTENTION_WORK_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_ATTENTION_WORK_H_

#include <cstdint>
#include <optional>

#include "workload-gen/work/submodule_maker.h"

namespace drydock {

// Without context parallelism and with a2a `first` is all there is. p2p: `first` is the rank's own
// keys, `other` each further step of the ring. all-gather: the rank's two chunks are `first` each.
// With a causal mask the pieces are the mean over the ranks, which do equal work.
struct CoreWork {
  TwoWayWork first, other;
  // p2p: scales the first step's output, adds another's; puts the first step's gradient of queries
  // in its place, adds another's; adds a step's gradient of keys and values.
  uint32_t scale_output = 0, merge_output = 0;
  uint32_t copy_queries = 0, merge_queries = 0;
  uint32_t merge_gradient = 0;
  // Elements on this rank before any exchange.
  int64_t queries = 0, keys = 0, values = 0, outputs = 0;
};

// Multi-head latent attention (DeepSeek-V2, section 2.1). The narrow projections are whole on each
// tensor rank and see its own rows; the wide ones are split by heads.
struct LatentWork {
  std::optional<LinearWork> q_down;  // without it q_up is of width hidden
  std::optional<TwoWayWork> q_norm;
  LinearWork q_up;
  LinearWork kv_down;
  TwoWayWork kv_norm;
  LinearWork kv_up;
};

struct AttentionWork {
  TwoWayWork norm;
  LinearWork qkv;  // unless latent
  // Fewer key heads than tensor ranks: the product is gathered, for each rank to find its heads.
  int64_t gathered_width = 0;
  std::optional<LatentWork> latent;
  std::optional<TwoWayWork> q_norm, k_norm;
  std::optional<TwoWayWork> rotary;
  CoreWork core;
  LinearWork proj;
  std::optional<TwoWayWork> post_norm;
  TwoWayWork residual;
};

// `windowed`: a query sees the model's window alone.
AttentionWork MakeAttention(SubmoduleMaker* maker, bool windowed);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_ATTENTION_WORK_H_
