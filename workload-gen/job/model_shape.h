// The shape of a transformer as the `model` section of model.yaml states it
// (docs/reference/model-file.md). Plain data; sizes are counts. Nothing here depends on how the
// model is trained or spread.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_MODEL_SHAPE_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_MODEL_SHAPE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace drydock {

// Limits of model.yaml. They keep every product of sizes within int64_t.
inline constexpr int kMaxLayers = 10000;
inline constexpr int64_t kMaxDimension = 1 << 24;

// kYarn: rotary, and YaRN scales queries and keys by a factor.
enum class Positions : uint8_t { kRotary, kYarn, kLearned, kNone };
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

// What the indexer of sparse attention learns: nothing, or attention's probabilities of all keys or
// of the picked keys.
enum class IndexLoss : uint8_t { kNone, kDense, kSparse };

// DeepSeek sparse attention (DeepSeek-V3.2): each query attends to the keys that an indexer picks.
struct SparseShape {
  int64_t top_k = 0;  // 0: attention to all keys; the other members are 0 too
  int64_t heads = 0;  // of the indexer
  int64_t head_dim = 0;
  IndexLoss loss = IndexLoss::kSparse;

  int64_t query_width() const { return heads * head_dim; }
};

// What the norm of queries and keys works on: each head by itself; the same without weights (Llama
// 4); or all heads together (OLMo 2).
enum class QkNormKind : uint8_t { kHead, kWeightless, kWhole };

// What a query sees in a layer with a window: the last `window` keys, or the earlier keys of its
// own chunk of `window` tokens (Llama 4).
enum class WindowKind : uint8_t { kSliding, kChunked };

struct AttentionLayerShape {
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;  // of queries and keys
  LatentAttention latent;
  SparseShape sparse;
  bool qkv_bias = true;  // bias of the query/key/value projection
  bool qk_norm = false;  // queries and keys are normalized
  QkNormKind qk_norm_kind = QkNormKind::kHead;
  bool gate = false;     // a gate, projected with the queries, weights the output (Qwen3-Next)
  bool sinks = false;    // each head adds a learned term to the sum of its softmax (gpt-oss)
  bool causal = true;
  int64_t window = 0;            // largest number of keys that a query sees; 0: all keys
  WindowKind window_kind = WindowKind::kSliding;
  int full_attention_every = 0;  // every n-th layer has no window; 0: all layers have it
  int full_attention_first = 0;  // the first n layers have no window
  int no_positions_every = 0;    // every n-th layer does not rotate; 0: all layers do
  double dropout = 0;

  bool is_latent() const { return latent.kv_rank > 0; }
  bool is_sparse() const { return sparse.top_k > 0; }
  int64_t value_dim() const { return is_latent() ? latent.value_dim : head_dim; }
  int64_t query_width() const { return heads * head_dim; }
  // Of keys, or of values. REQUIRES: !is_latent().
  int64_t kv_width() const { return kv_heads * head_dim; }
  // Of the joint projection of queries, gate, keys and values. REQUIRES: !is_latent().
  int64_t qkv_width() const { return (gate ? 2 : 1) * query_width() + 2 * kv_width(); }
  int64_t value_width() const { return heads * value_dim(); }
  // The mean number of keys that a query of `length` tokens sees, in a layer with or without the
  // window. `halved`: with a causal mask, the keys behind a query do not count.
  double KeysSeen(int64_t length, bool windowed, bool halved) const;
  bool HasWindow(int layer) const {
    return window > 0 && layer >= full_attention_first &&
           (full_attention_every == 0 || (layer + 1) % full_attention_every != 0);
  }
};

// Rows of the convolution before a scan (MambaMixer and GatedDeltaNet of Megatron-Core).
inline constexpr int64_t kScanTaps = 4;

// A Mamba-2 layer (Dao and Gu, 2024).
struct MambaShape {
  static constexpr int64_t kChunk = 128;  // tokens that are processed together

  int64_t heads = 0;
  int64_t head_dim = 64;
  int64_t state = 128;  // rows of a head's state
  int64_t groups = 8;   // heads of a group share B and C

  int64_t inner() const { return heads * head_dim; }
  int64_t convolved() const { return inner() + 2 * groups * state; }   // x, B and C
  int64_t projected() const { return inner() + convolved() + heads; }  // z, x, B, C and dt
};

// A gated delta net (Yang et al., 2024), as Qwen3-Next has it.
struct DeltaNetShape {
  static constexpr int64_t kChunk = 64;

  int attention_every = 0;  // every n-th layer has attention instead; 0: all layers have attention
  int64_t key_heads = 0;
  int64_t value_heads = 0;
  int64_t key_dim = 128;
  int64_t value_dim = 128;

  int64_t key_width() const { return key_heads * key_dim; }
  int64_t value_width() const { return value_heads * value_dim; }
  int64_t convolved() const { return 2 * key_width() + value_width(); }
  // Queries, keys, values, gate, and two numbers for each head of values.
  int64_t projected() const { return convolved() + value_width() + 2 * value_heads; }
};

// How a layer mixes tokens.
enum class Mixer : uint8_t { kNone, kAttention, kMamba, kDeltaNet };

// What a layer consists of.
struct LayerParts {
  Mixer mixer = Mixer::kAttention;
  bool window = false;   // attention sees the keys in the model's window only
  bool rotates = false;  // queries and keys are rotated
  bool mlp = true;       // a dense MLP
  bool experts = false;  // or experts
  int64_t ffn = 0;       // width of the dense MLP
  auto operator<=>(const LayerParts&) const = default;
};

// The MLP of a dense layer.
struct MlpShape {
  int64_t ffn = 0;
  Activation activation = Activation::kGelu;  // of experts too
  double clamp = 0;                           // of the inputs of experts' activations; 0: none

  bool gated() const {
    return activation == Activation::kSwiglu || activation == Activation::kGeglu;
  }
};

// A layer has experts if its number is at least first_dense_layers and leaves the remainder
// `offset` divided by `every`.
struct ExpertShape {
  int experts = 0;  // routed experts of a layer; 0: all layers are dense
  int per_token = 0;
  int64_t ffn = 0;         // of one expert
  int64_t shared_ffn = 0;  // of all shared experts together
  bool shared_gate = false;
  int first_dense_layers = 0;
  int every = 1;
  int offset = 0;
  bool router_bias = false;  // a bias per expert that affects only the choice of experts
  int64_t latent = 0;        // width of the tokens at the experts; 0: the residual stream's
};

struct EmbeddingShape {
  int64_t vocab = 0;
  int64_t vocab_multiple = 128;  // padded to a multiple of this times `tensor`
  bool tied = true;              // the head shares the weight
  Positions positions = Positions::kLearned;
  int64_t max_positions = 0;   // rows of the learned position table
  int64_t patch_features = 0;  // images: values per patch, instead of a vocabulary at the input

  bool learned_positions() const { return positions == Positions::kLearned; }
  bool rotates() const { return positions == Positions::kRotary || positions == Positions::kYarn; }
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
  MambaShape mamba;
  DeltaNetShape delta;
  // Megatron's symbol of each layer, which has one part only: M Mamba-2, * attention, - an MLP, E
  // experts. "": a layer has attention or a delta net, and an MLP or experts.
  std::string pattern;
  // The width of the MLP of each '-' of the pattern, "28672*2,14336"; "": all have that of `mlp`.
  std::string pattern_widths;
  std::vector<int64_t> pattern_ffn;  // the same, by layer
  MlpShape mlp;
  ExpertShape moe;
  bool rms_norm = false;
  bool pre_norms = true;    // a norm before attention and before the MLP
  bool post_norms = false;  // one after attention and after the MLP, before the residual
  bool bias = true;         // of every linear layer
  int mtp_layers = 0;       // of multi-token prediction (DeepSeek-V3, section 2.2)
  double dropout = 0;       // of embedding and residual branches

  // Of layers, and of layers of multi-token prediction, whose numbers follow. Such a layer is like
  // the last layer; with a pattern, it has attention and experts, or an MLP if no layer has
  // experts.
  LayerParts PartsOf(int layer) const;
  bool HasExperts(int layer) const { return PartsOf(layer).experts; }
  bool HasMixer(Mixer mixer) const;  // some layer has it
  int expert_layers() const;
  // Samples in a sequence, and their length: attention stays inside a sample.
  int64_t samples() const;
  int64_t attended() const { return sequence / samples(); }
  int64_t expert_width() const { return moe.latent > 0 ? moe.latent : hidden; }
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_MODEL_SHAPE_H_
