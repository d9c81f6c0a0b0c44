// The shape of a transformer as the `model` section of model.yaml states it (docs/models.md).
// Plain data; sizes are counts. Nothing here depends on how the model is trained or spread.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_MODEL_SHAPE_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_MODEL_SHAPE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace drydock {

enum class Positions : uint8_t { kRotary, kLearned, kNone };
const std::vector<std::string>& PositionsNames();  // "rotary", ...

enum class Activation : uint8_t { kGelu, kSwiglu, kGeglu, kSquaredRelu, kRelu };
const std::vector<std::string>& ActivationNames();  // "gelu", ...

// Multi-head latent attention (DeepSeek-V2, section 2.1): keys and values, and queries if q_rank is
// not 0, go through a narrow projection; a part of each head's width carries the positions.
struct LatentAttention {
  int64_t q_rank = 0;   // 0: queries are projected at once
  int64_t kv_rank = 0;  // 0: ordinary attention, and the rest is 0 as well
  int64_t nope_dim = 0;
  int64_t rope_dim = 0;
  int64_t value_dim = 0;
};

// Layers of experts: those from first_dense_layers on whose number is divisible by `every`.
struct ExpertShape {
  int experts = 0;  // routed; 0: all layers are dense
  int per_token = 0;
  int64_t ffn = 0;         // of one expert
  int64_t shared_ffn = 0;  // of all shared experts together
  bool shared_gate = false;
  int first_dense_layers = 0;
  int every = 1;
  bool router_bias = false;  // a bias per expert that the choice alone sees
};

struct ModelShape {
  std::string name;  // file name without suffix, unless given
  int layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;  // of queries and keys
  int64_t ffn = 0;       // of a dense layer
  int64_t vocab = 0;
  int64_t vocab_multiple = 128;  // padded to a multiple of this times `tensor`
  int64_t sequence = 0;
  int64_t max_positions = 0;  // rows of the learned position table
  Positions positions = Positions::kLearned;
  Activation activation = Activation::kGelu;
  bool rms_norm = false;
  bool tied_embedding = true;
  bool bias = true;         // of every linear layer
  bool qkv_bias = true;     // of the query/key/value projection
  bool qk_norm = false;     // queries and keys are normalised per head
  bool post_norms = false;  // a norm behind attention and MLP as well, before the residual
  bool causal = true;
  int64_t window = 0;            // keys a query sees at most; 0: all
  int full_attention_every = 0;  // every so manieth layer has no window; 0: all have it
  int full_attention_first = 0;  // so many layers at the start have none either
  LatentAttention latent;
  ExpertShape moe;
  int mtp_layers = 0;          // that predict further tokens (DeepSeek-V3, section 2.2)
  int64_t patch_features = 0;  // images: values a patch, in place of a vocabulary at the input
  double dropout = 0;          // of embedding and residual branches
  double attention_dropout = 0;

  bool gated() const {
    return activation == Activation::kSwiglu || activation == Activation::kGeglu;
  }
  bool learned_positions() const { return positions == Positions::kLearned; }
  bool is_latent() const { return latent.kv_rank > 0; }
  int64_t value_dim() const { return is_latent() ? latent.value_dim : head_dim; }
  int64_t query_width() const { return heads * head_dim; }
  int64_t kv_width() const { return kv_heads * head_dim; }  // of keys, or of values; not latent
  int64_t value_width() const { return heads * value_dim(); }
  bool HasExperts(int layer) const {
    return moe.experts > 0 && layer >= moe.first_dense_layers && layer % moe.every == 0;
  }
  bool HasWindow(int layer) const {
    return window > 0 && layer >= full_attention_first &&
           (full_attention_every == 0 || (layer + 1) % full_attention_every != 0);
  }
  int expert_layers() const;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_MODEL_SHAPE_H_
