// The shape of a transformer as the `model` section of model.yaml states it
// (docs/reference/model-file.md). Plain data; sizes are counts. Nothing here depends on how the
// model is trained or spread.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_MODEL_SHAPE_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_MODEL_SHAPE_H_

#include <cstdint>
#include <string>

namespace drydock {

// Limits of model.yaml. They keep every product of sizes within int64_t.
inline constexpr int kMaxLayers = 10000;
inline constexpr int64_t kMaxDimension = 1 << 24;

enum class Positions : uint8_t { kRotary, kLearned, kNone };
enum class Activation : uint8_t { kGelu, kSwiglu, kGeglu, kSquaredRelu, kRelu };

// Multi-head latent attention (DeepSeek-V2, section 2.1). Keys and values pass through a narrow
// projection; so do queries if q_rank is not 0. Part of the width of each head carries positions.
struct LatentAttention {
  int64_t q_rank = 0;   // 0: queries are projected directly
  int64_t kv_rank = 0;  // 0: ordinary attention; the other members are 0 too
  int64_t nope_dim = 0;
  int64_t rope_dim = 0;
  int64_t value_dim = 0;
};

struct AttentionLayerShape {
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;  // of queries and keys
  LatentAttention latent;
  bool qkv_bias = true;  // bias of the query/key/value projection
  bool qk_norm = false;  // queries and keys are normalized per head
  bool causal = true;
  int64_t window = 0;            // largest number of keys that a query sees; 0: all keys
  int full_attention_every = 0;  // every n-th layer has no window; 0: all layers have it
  int full_attention_first = 0;  // the first n layers have no window
  double dropout = 0;

  bool is_latent() const { return latent.kv_rank > 0; }
  int64_t value_dim() const { return is_latent() ? latent.value_dim : head_dim; }
  int64_t query_width() const { return heads * head_dim; }
  // Of keys, or of values. REQUIRES: !is_latent().
  int64_t kv_width() const { return kv_heads * head_dim; }
  int64_t value_width() const { return heads * value_dim(); }
  bool HasWindow(int layer) const {
    return window > 0 && layer >= full_attention_first &&
           (full_attention_every == 0 || (layer + 1) % full_attention_every != 0);
  }
};

// The MLP of a dense layer.
struct MlpShape {
  int64_t ffn = 0;
  Activation activation = Activation::kGelu;  // of experts too

  bool gated() const {
    return activation == Activation::kSwiglu || activation == Activation::kGeglu;
  }
};

// A layer has experts if its number is at least first_dense_layers and divisible by `every`.
struct ExpertShape {
  int experts = 0;  // routed experts of a layer; 0: all layers are dense
  int per_token = 0;
  int64_t ffn = 0;         // of one expert
  int64_t shared_ffn = 0;  // of all shared experts together
  bool shared_gate = false;
  int first_dense_layers = 0;
  int every = 1;
  bool router_bias = false;  // a bias per expert that affects only the choice of experts
};

struct EmbeddingShape {
  int64_t vocab = 0;
  int64_t vocab_multiple = 128;  // padded to a multiple of this times `tensor`
  bool tied = true;              // the head shares the weight
  Positions positions = Positions::kLearned;
  int64_t max_positions = 0;   // rows of the learned position table
  int64_t patch_features = 0;  // images: values per patch, instead of a vocabulary at the input

  bool learned_positions() const { return positions == Positions::kLearned; }
};

// The linear layers that have adapters.
struct LoraTargets {
  bool qkv = false, proj = false, fc1 = false, fc2 = false;
  bool operator==(const LoraTargets&) const = default;
};

// Low-rank adapters (Hu et al. 2021) beside frozen linear layers: only they are trained.
struct LoraShape {
  int64_t rank = 0;  // 0: all parameters are trained
  LoraTargets targets;
  double dropout = 0;       // of an adapter's input
  bool all_to_all = false;  // how a row-parallel layer's adapter gets its rows
  bool any() const { return rank > 0; }
};

struct ModelShape {
  std::string name;  // file name without suffix, unless given
  int layers = 0;
  int64_t hidden = 0;
  int64_t sequence = 0;
  int64_t sample_length = 0;  // of samples that are packed into a sequence; 0: one fills it
  LoraShape lora;
  EmbeddingShape embedding;
  AttentionLayerShape attention;
  MlpShape mlp;
  ExpertShape moe;
  bool rms_norm = false;
  bool post_norms = false;  // another norm after attention and after the MLP, before the residual
  bool bias = true;         // of every linear layer
  int mtp_layers = 0;       // of multi-token prediction (DeepSeek-V3, section 2.2)
  double dropout = 0;       // of embedding and residual branches

  bool HasExperts(int layer) const {
    return moe.experts > 0 && layer >= moe.first_dense_layers && layer % moe.every == 0;
  }
  int expert_layers() const;
  // Samples in a sequence, and their length: attention stays inside a sample.
  int64_t samples() const;
  int64_t attended() const { return sequence / samples(); }
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_MODEL_SHAPE_H_
