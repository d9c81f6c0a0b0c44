// The table of keys: one row per key. Sections and keys are listed in the order in which they are
// read and printed.
#include "core/model/workload.h"
#include "workload-gen/job/key.h"
#include "workload-gen/job/names/other_names.h"
#include "workload-gen/job/section_rules.h"

namespace drydock {
namespace {

#define MEMBER(path) MemberOf([](auto& job) -> auto& { return job.path; })

constexpr int64_t kMaxHeads = 1 << 16;
constexpr Time kLongestSampleTime = Time::Us(1'000'000);
constexpr int64_t kMaxDegree = 1 << 16;
constexpr int64_t kMaxElements = int64_t{1} << 44;

// The architecture gives defaults to the keys below it.
KeyKindPtr Architecture() {
  return kind::Choice(
      {"gpt", "llama"}, [](const TrainingJob&) { return 0; },
      [](int index, TrainingJob* job) {
        if (index == 0) return;
        job->model.embedding.positions = Positions::kRotary;
        job->model.mlp.activation = Activation::kSwiglu;
        job->model.rms_norm = true;
        job->model.embedding.tied = false;
        job->model.bias = false;
      });
}

KeyKindPtr PrecisionKind() {
  return kind::Choice(
      {"fp16", "bf16", "fp8", "nvfp4"},
      [](const TrainingJob& job) {
        const PrecisionRules& precision = job.training.precision;
        if (precision.quantized()) return precision.fp8 ? 2 : 3;
        return precision.type == DataType::kFp16 ? 0 : 1;
      },
      [](int index, TrainingJob* job) {
        job->training.precision.type = index == 0 ? DataType::kFp16 : DataType::kBf16;
        job->training.precision.fp8 = index == 2;
        job->training.precision.nvfp4 = index == 3;
      },
      &PrecisionFor);
}

// One of `types`.
KeyKindPtr TypeOf(Member<DataType> member, const std::vector<DataType>& types) {
  std::vector<std::string> names;
  for (const DataType type : types) names.emplace_back(ToString(type));
  return kind::Choice(
      names,
      [member, types](const TrainingJob& job) {
        int index = 0;
        while (types[static_cast<size_t>(index)] != member.in(job)) ++index;
        return index;
      },
      [member, types](int index, TrainingJob* job) {
        member.of(*job) = types[static_cast<size_t>(index)];
      });
}

// Omits the kinds that do not belong to NCCL.
KeyKindPtr GradientBuffers() {
  const std::vector<std::string>& kinds = BufferKindNames();
  return kind::Choice(MEMBER(training.optimizer.gradient_buffers),
                      {kinds.begin(), kinds.begin() + kNcclBufferKindCount});
}

void SetKvHeads(TrainingJob* job) { job->model.attention.kv_heads = job->model.attention.heads; }
void SetMaxPositions(TrainingJob* job) { job->model.embedding.max_positions = job->model.sequence; }
void SetQkvBias(TrainingJob* job) { job->model.attention.qkv_bias = job->model.bias; }
// Megatron-LM keeps gradients of bf16 in fp32; gradients of fp16 stay fp16 unless an argument says
// otherwise.
void SetGradientType(TrainingJob* job) {
  PrecisionRules& precision = job->training.precision;
  precision.gradients = precision.type == DataType::kFp16 ? DataType::kFp16 : DataType::kFp32;
}
void SetModules(TrainingJob* job) {
  RecomputeRules& recompute = job->training.recompute;
  recompute.modules.core_attention = recompute.granularity == Recompute::kSelective;
}
void SetAdapters(TrainingJob* job) {
  if (job->model.lora.any()) job->model.lora.targets = {true, true, true, true};
}
void SetHostLaunch(TrainingJob* job) {
  const bool megatron = job->training.framework == FrameworkKind::kMegatron;
  job->training.host.launch = !job->training.kernels.fused ? "eager"
                              : megatron                   ? "transformer-engine"
                                                           : "fused";
}
void SetOverlapComm(TrainingJob* job) { job->zero.overlap_comm = job->zero.stage == 3; }

std::vector<Key> ModelKeys() {
  return {
      Key("from", nullptr,
          "a `config.json` of Hugging Face, relative to this file; the other keys of the section "
          "take precedence over it")
          .Default("none"),
      Key("architecture", Architecture(),
          "gives defaults to the keys below. `gpt`: learned positions, gelu, layer norm, tied "
          "embedding, biases. `llama`: rotary positions, swiglu, RMS norm, no tied embedding, no "
          "biases")
          .Required(),
      Key("name", kind::Text(MEMBER(model.name)), "name in reports").Default("name of the file"),
      Key("layers", kind::Count(MEMBER(model.layers), 1, kMaxLayers), "transformer layers")
          .Required()
          .Megatron({Copied("--num-layers"), Copied("--encoder-num-layers")}),
      Key("hidden", kind::Count(MEMBER(model.hidden), 1, kMaxDimension),
          "width of the residual stream")
          .Required()
          .Megatron({Copied("--hidden-size")}),
      Key("heads", kind::Count(MEMBER(model.attention.heads), 1, kMaxHeads), "attention heads")
          .Required()
          .Megatron({Copied("--num-attention-heads")}),
      Key("kv_heads", kind::Count(MEMBER(model.attention.kv_heads), 1, kMaxHeads),
          "heads of keys and values (grouped queries); divides `heads`")
          .Default("`heads`", &SetKvHeads)
          .Megatron({Computed("--group-query-attention"), Computed("--num-query-groups")}),
      Key("head_dim", kind::Count(MEMBER(model.attention.head_dim), 1, kMaxHeads),
          "width of a head")
          .Excludes("kv_lora_rank")
          .Default("`hidden` / `heads`")
          .Megatron({Copied("--kv-channels")}),
      Key("kv_lora_rank", kind::Count(MEMBER(model.attention.latent.kv_rank), 1, kMaxDimension),
          "latent width of keys and values: multi-head latent attention (DeepSeek-V2, section "
          "2.1). The model then has neither `kv_heads` nor `head_dim`")
          .Megatron({Computed("--multi-latent-attention"), Computed("--kv-lora-rank")}),
      Key("q_lora_rank", kind::Count(MEMBER(model.attention.latent.q_rank), 1, kMaxDimension),
          "latent width of queries; without it, queries are projected directly")
          .Needs("kv_lora_rank")
          .Megatron({Computed("--q-lora-rank")}),
      Key("qk_nope_dim", kind::Count(MEMBER(model.attention.latent.nope_dim), 1, kMaxHeads),
          "width of a head's queries and keys without positions")
          .Needs("kv_lora_rank")
          .Required()
          .Megatron({Computed("--qk-head-dim")}),
      Key("qk_rope_dim", kind::Count(MEMBER(model.attention.latent.rope_dim), 1, kMaxHeads),
          "width of a head's queries and keys with positions")
          .Needs("kv_lora_rank")
          .Required()
          .Megatron({Computed("--qk-pos-emb-head-dim")}),
      Key("value_dim", kind::Count(MEMBER(model.attention.latent.value_dim), 1, kMaxHeads),
          "width of a head's values")
          .Needs("kv_lora_rank")
          .Required()
          .Megatron({Computed("--v-head-dim")}),
      Key("index_topk", kind::Count(MEMBER(model.attention.sparse.top_k), 1, kMaxDimension),
          "keys of a query in DeepSeek sparse attention (DeepSeek-V3.2): an indexer scores all "
          "earlier keys, and attention reads the `index_topk` best")
          .Needs("kv_lora_rank")
          .Megatron({Computed("--experimental-attention-variant"), Computed("--dsa-indexer-topk")}),
      Key("index_heads", kind::Count(MEMBER(model.attention.sparse.heads), 1, kMaxHeads),
          "heads of the indexer's queries; they share their keys")
          .Needs("index_topk")
          .Required()
          .Megatron({Computed("--dsa-indexer-n-heads")}),
      Key("index_head_dim", kind::Count(MEMBER(model.attention.sparse.head_dim), 1, kMaxHeads),
          "width of a head of the indexer; at least `qk_rope_dim`")
          .Needs("index_topk")
          .Required()
          .Megatron({Computed("--dsa-indexer-head-dim")}),
      Key("index_loss",
          kind::Choice(MEMBER(model.attention.sparse.loss), {"none", "dense", "sparse"}),
          "what trains the indexer: its distance from attention's probabilities of all earlier "
          "keys (`dense`), or of the picked keys (`sparse`). `none`: it has no gradients")
          .Needs("index_topk")
          .Megatron(
              {Computed("--dsa-indexer-loss-coeff"), Computed("--dsa-indexer-use-sparse-loss")}),
      Key("ffn", kind::Count(MEMBER(model.mlp.ffn), 1, kMaxDimension),
          "width of the MLP; required with `swiglu` and `geglu` unless all layers have experts")
          .Default("4 × `hidden`")
          .Megatron({Copied("--ffn-hidden-size")}),
      Key("vocab", kind::Count(MEMBER(model.embedding.vocab), 1, kMaxDimension),
          "vocabulary as published; padded to a multiple of `vocab_multiple` × `tensor`")
          .Required()
          .Megatron({Computed("--vocab-size"), Computed("--padded-vocab-size"),
                     Computed("--tokenizer-type")}),
      Key("vocab_multiple", kind::Count(MEMBER(model.embedding.vocab_multiple), 1, kMaxDimension),
          "see `vocab`")
          .Megatron({Copied("--make-vocab-size-divisible-by"), Computed("--padded-vocab-size")}),
      Key("sequence", kind::Count(MEMBER(model.sequence), 1, kMaxDimension), "tokens of a sample")
          .Required()
          .Megatron({Copied("--seq-length"), Copied("--encoder-seq-length")}),
      Key("positions",
          kind::Choice(MEMBER(model.embedding.positions), {"rotary", "yarn", "learned", "none"}),
          "how tokens get their positions. `yarn`: rotary, and YaRN scales queries and keys")
          .Default("by `architecture`")
          .Megatron({Computed("--position-embedding-type"),
                     Computed("--use-rotary-position-embeddings"),
                     Computed("--no-position-embedding")}),
      Key("no_positions_every",
          kind::Count(MEMBER(model.attention.no_positions_every), 2, kMaxLayers),
          "every n-th layer, counted from 1, does not rotate queries and keys (Llama 4)")
          .Needs("positions: rotary or yarn")
          .Excludes("layer_pattern"),
      Key("max_positions", kind::Count(MEMBER(model.embedding.max_positions), 1, kMaxDimension),
          "rows of the table of learned positions")
          .Default("`sequence`", &SetMaxPositions)
          .Megatron({Computed("--max-position-embeddings")}),
      Key("activation",
          kind::Choice(MEMBER(model.mlp.activation),
                       {"gelu", "swiglu", "geglu", "squared-relu", "relu"}),
          "activation of MLPs and experts")
          .Default("by `architecture`")
          .Megatron({Computed("--swiglu"), Computed("--quick-geglu"), Computed("--squared-relu")}),
      Key("norm", kind::Either(MEMBER(model.rms_norm), "layernorm", "rmsnorm"), "kind of all norms")
          .Default("by `architecture`")
          .Megatron({Computed("--normalization")}),
      Key("tied_embedding", kind::Flag(MEMBER(model.embedding.tied)),
          "the head shares the weight of the word embedding")
          .Default("by `architecture`")
          .Megatron({Sets("--untie-embeddings-and-output-weights", "false")}),
      Key("bias", kind::Flag(MEMBER(model.bias)), "all linear layers have a bias")
          .Default("by `architecture`")
          .Megatron({Sets("--disable-bias-linear", "false")}),
      Key("qkv_bias", kind::Flag(MEMBER(model.attention.qkv_bias)),
          "the query/key/value projection has a bias")
          .Default("`bias`", &SetQkvBias)
          .Megatron({Sets("--add-qkv-bias", "true")}),
      Key("qk_norm", kind::Flag(MEMBER(model.attention.qk_norm)),
          "queries and keys are normalized before they are rotated")
          .Megatron({Sets("--qk-layernorm", "true")}),
      Key("qk_norm_kind",
          kind::Choice(MEMBER(model.attention.qk_norm_kind), {"head", "weightless", "whole"}),
          "`weightless`: as `head`, without weights, in layers that rotate (Llama 4). `whole`: "
          "over all heads together "
          "(OLMo 2); tensor-parallel ranks then add up their squares")
          .Needs("qk_norm: true"),
      Key("attention_gate", kind::Flag(MEMBER(model.attention.gate)),
          "a gate, projected with the queries, weights attention's output (Qwen3-Next)")
          .Excludes("kv_lora_rank")
          .Megatron({Sets("--attention-output-gate", "true")}),
      Key("attention_sinks", kind::Flag(MEMBER(model.attention.sinks)),
          "each head adds a learned term to the sum of its softmax (gpt-oss)")
          .Megatron({Computed("--softmax-type")}),
      Key("pre_norms", kind::Flag(MEMBER(model.pre_norms)),
          "`false`: no norm before attention and before the MLP, only `post_norms` after them "
          "(OLMo 2)"),
      Key("post_norms", kind::Flag(MEMBER(model.post_norms)),
          "another norm after attention and after the MLP (Gemma 2)"),
      Key("causal", kind::Flag(MEMBER(model.attention.causal)),
          "`false`: an encoder, in which each token attends to all tokens"),
      Key("window", kind::Count(MEMBER(model.attention.window), 1, kMaxDimension),
          "largest number of keys that a query sees (sliding window)")
          .Megatron({Computed("--window-size"), Computed("--sliding-window"),
                     Computed("--enable-gpt-oss")}),
      Key("window_kind", kind::Choice(MEMBER(model.attention.window_kind), {"sliding", "chunked"}),
          "`sliding`: a query sees the last `window` keys. `chunked`: the earlier keys of its own "
          "chunk of `window` tokens (Llama 4)")
          .Needs("window"),
      Key("full_attention_every",
          kind::Count(MEMBER(model.attention.full_attention_every), 2, kMaxLayers),
          "every n-th layer, counted from 1, has no window")
          .Needs("window")
          .Megatron({Computed("--window-attn-skip-freq")}),
      Key("full_attention_first",
          kind::Count(MEMBER(model.attention.full_attention_first), 0, kMaxLayers),
          "the first n layers have no window (`max_window_layers` of Qwen 2)")
          .Needs("window")
          .Megatron({Computed("--window-attn-skip-freq")}),
      Key("experts", kind::Count(MEMBER(model.moe.experts), 1, 1 << 16),
          "routed experts of a layer. A layer has experts if its number, counted from 0, is at "
          "least `first_dense_layers` and leaves the remainder `moe_offset` divided by "
          "`moe_every`; "
          "other layers are dense. With `layer_pattern`, the layers `E` have experts")
          .Megatron({Computed("--num-experts")}),
      Key("activation_clamp", kind::Number(MEMBER(model.mlp.clamp), 0, 1e6),
          "the inputs of experts' activations are clamped to this value; 0: not")
          .Needs("experts")
          .Megatron({Copied("--activation-func-clamp-value")}),
      Key("experts_per_token", kind::Count(MEMBER(model.moe.per_token), 1, 1 << 16),
          "experts that each token is sent to")
          .Needs("experts")
          .Required()
          .Megatron({Computed("--moe-router-topk")}),
      Key("expert_ffn", kind::Count(MEMBER(model.moe.ffn), 1, kMaxDimension), "width of an expert")
          .Needs("experts")
          .Default("`ffn`")
          .Megatron({Copied("--moe-ffn-hidden-size")}),
      Key("shared_expert_ffn", kind::Count(MEMBER(model.moe.shared_ffn), 0, kMaxDimension),
          "width of all shared experts together")
          .Needs("experts")
          .Megatron({Copied("--moe-shared-expert-intermediate-size")}),
      Key("shared_expert_gate", kind::Flag(MEMBER(model.moe.shared_gate)),
          "a gate weights the output of the shared experts (Qwen2-MoE); needs `shared_expert_ffn`")
          .Needs("experts")
          .Megatron({Sets("--moe-shared-expert-gate", "true")}),
      Key("first_dense_layers", kind::Count(MEMBER(model.moe.first_dense_layers), 0, kMaxLayers),
          "see `experts`")
          .Needs("experts")
          .Megatron({Computed("--moe-layer-freq")}),
      Key("moe_every", kind::Count(MEMBER(model.moe.every), 1, kMaxLayers), "see `experts`")
          .Needs("experts")
          .Megatron({Computed("--moe-layer-freq")}),
      Key("moe_offset", kind::Count(MEMBER(model.moe.offset), 0, kMaxLayers),
          "see `experts`; below `moe_every` (1 with `moe_every` 2 gives every second layer "
          "experts, "
          "as in Llama 4 Maverick)")
          .Needs("experts"),
      Key("router_bias", kind::Flag(MEMBER(model.moe.router_bias)),
          "a bias per expert that affects only the choice of experts (DeepSeek-V3)")
          .Needs("experts")
          .Megatron({Sets("--moe-router-enable-expert-bias", "true")}),
      Key("expert_latent", kind::Count(MEMBER(model.moe.latent), 1, kMaxDimension),
          "width to which tokens are projected before the token dispatch and from which they are "
          "projected back after the token combine (latent experts); without it, experts work on "
          "`hidden`")
          .Needs("experts")
          .Megatron({Copied("--moe-latent-size")}),
      Key("layer_pattern", kind::Word(MEMBER(model.pattern)),
          "a symbol per layer, each of which has one part only: `M` Mamba-2, `*` attention, `-` an "
          "MLP, `E` experts. Without it, a layer has attention or a delta net, and an MLP or "
          "experts")
          .Megatron({Computed("--hybrid-layer-pattern"), Computed("--hybrid-override-pattern"),
                     Computed("--is-hybrid-model"), Computed("--spec"),
                     Computed("--hybrid-attention-ratio"), Computed("--hybrid-mlp-ratio")}),
      Key("pattern_ffn", kind::Word(MEMBER(model.pattern_widths)),
          "the width of the MLP of each `-` of `layer_pattern`, in order, where they differ "
          "(Nemotron-NAS): `28672*2,14336`; `*n` repeats a width")
          .Needs("layer_pattern")
          .Default("`ffn` for all"),
      Key("mamba_heads", kind::Count(MEMBER(model.mamba.heads), 1, kMaxHeads),
          "heads of a Mamba-2 layer")
          .Needs("layer_pattern")
          .Default("2 × `hidden` / `mamba_head_dim`")
          .Megatron({Copied("--mamba-num-heads")}),
      Key("mamba_head_dim", kind::Count(MEMBER(model.mamba.head_dim), 1, kMaxHeads),
          "width of a head of a Mamba-2 layer")
          .Needs("layer_pattern")
          .Megatron({Copied("--mamba-head-dim")}),
      Key("mamba_state", kind::Count(MEMBER(model.mamba.state), 1, kMaxHeads),
          "rows of a head's state in a Mamba-2 layer")
          .Needs("layer_pattern")
          .Megatron({Copied("--mamba-state-dim")}),
      Key("mamba_groups", kind::Count(MEMBER(model.mamba.groups), 1, kMaxHeads),
          "groups of heads in a Mamba-2 layer; the heads of a group share B and C")
          .Needs("layer_pattern")
          .Megatron({Copied("--mamba-num-groups")}),
      Key("delta_attention_every", kind::Count(MEMBER(model.delta.attention_every), 2, kMaxLayers),
          "every n-th layer, counted from 1, has attention; the others have a gated delta net "
          "(Qwen3-Next)")
          .Excludes("layer_pattern")
          .Megatron(
              {Computed("--experimental-attention-variant"), Computed("--linear-attention-freq")}),
      Key("delta_key_heads", kind::Count(MEMBER(model.delta.key_heads), 1, kMaxHeads),
          "heads of queries and keys of a gated delta net; divides `delta_value_heads`")
          .Needs("delta_attention_every")
          .Required()
          .Megatron({Copied("--linear-num-key-heads")}),
      Key("delta_value_heads", kind::Count(MEMBER(model.delta.value_heads), 1, kMaxHeads),
          "heads of values of a gated delta net")
          .Needs("delta_attention_every")
          .Required()
          .Megatron({Copied("--linear-num-value-heads")}),
      Key("delta_key_dim", kind::Count(MEMBER(model.delta.key_dim), 1, kMaxHeads),
          "width of a head of queries and keys of a gated delta net")
          .Needs("delta_attention_every")
          .Megatron({Copied("--linear-key-head-dim")}),
      Key("delta_value_dim", kind::Count(MEMBER(model.delta.value_dim), 1, kMaxHeads),
          "width of a head of values of a gated delta net")
          .Needs("delta_attention_every")
          .Megatron({Copied("--linear-value-head-dim")}),
      Key("mtp_layers", kind::Count(MEMBER(model.mtp_layers), 0, 16),
          "layers of multi-token prediction (DeepSeek-V3)")
          .Megatron({Copied("--mtp-num-layers")}),
      Key("patch_features", kind::Count(MEMBER(model.embedding.patch_features), 1, kMaxDimension),
          "values per patch of an image: a linear layer and a class token replace the word "
          "embedding, `vocab` is the number of classes, `sequence` counts the class token"),
      Key("sample_length", kind::Count(MEMBER(model.sample_length), 1, kMaxDimension),
          "mean tokens of the samples that are packed into a sequence; attention stays inside a "
          "sample. Samples count as equally long, a whole number of them fills the sequence")
          .Default("`sequence`"),
      Key("lora_rank", kind::Count(MEMBER(model.lora.rank), 1, kMaxDimension),
          "width of low-rank adapters (LoRA). Only the adapters are trained; all other parameters "
          "are frozen. A multiple of `tensor`; excludes `experts`, `kv_lora_rank`, `mtp_layers` "
          "and "
          "`patch_features`")
          .Default("none: all parameters are trained"),
      Key("lora_targets", kind::Adapters(MEMBER(model.lora.targets)),
          "the linear layers that have an adapter")
          .Needs("lora_rank")
          .Default("all four", &SetAdapters),
      Key("lora_dropout", kind::Fraction(MEMBER(model.lora.dropout)),
          "probability of dropout at an adapter's input")
          .Needs("lora_rank"),
      Key("lora_all_to_all", kind::Flag(MEMBER(model.lora.all_to_all)),
          "with `sequence_parallel`, adapters of `linear_proj` and `linear_fc2` exchange columns "
          "for rows by an all-to-all (`a2a_experimental` of NeMo and Megatron-Bridge); otherwise "
          "they gather whole rows and drop those of other ranks")
          .Needs("lora_rank"),
      Key("dropout", kind::Fraction(MEMBER(model.dropout)),
          "probability of dropout in the embedding and the residual branches")
          .Megatron({Copied("--hidden-dropout")}),
      Key("attention_dropout", kind::Fraction(MEMBER(model.attention.dropout)),
          "probability of dropout in attention")
          .Megatron({Copied("--attention-dropout")}),
  };
}

std::vector<Key> TrainingKeys() {
  return {
      Key("framework", kind::Choice(MEMBER(training.framework), FrameworkNames()),
          "`megatron`: Megatron-LM. `deepspeed`: DeepSpeed with ZeRO (section `zero`). `fsdp`: "
          "PyTorch's FSDP as torchtitan sets it up (section `fsdp`)")
          .Required(),
      Key("precision", PrecisionKind(),
          "type of parameters, activations and messages: `fp16` (with loss scaling), `bf16`. "
          "`fp8`, `nvfp4`: bf16 with linear layers in fp8 or NVFP4")
          .Required()
          .Megatron({Computed("--bf16"), Computed("--fp16"), Computed("--fp8-format"),
                     Computed("--fp4-format"), Computed("--fp4-recipe")}),
      Key("fp8_recipe",
          kind::Choice(MEMBER(training.precision.recipe),
                       {"delayed", "tensorwise", "blockwise", "mxfp8"}, &Fp8RecipeFor),
          "scales of fp8. `delayed`: of a tensor, from earlier steps; `tensorwise`: of a tensor, "
          "from its largest value; `blockwise`: of 128 elements; `mxfp8`: of 32 elements, as "
          "Blackwell's tensor cores take them. Framework `fsdp` has `fsdp.fp8_recipe` in its place")
          .Needs("precision: fp8")
          .InPlaceOf("fsdp.fp8_recipe", FrameworkKind::kFsdp)
          .Megatron({Computed("--fp8-recipe")}),
      Key("hadamard_transform", kind::Flag(MEMBER(training.precision.hadamard)),
          "operands of weight gradients pass a random Hadamard transform before they are quantized "
          "(`NVTE_NVFP4_DISABLE_RHT=1`: false)")
          .Needs("precision: nvfp4"),
      Key("stochastic_rounding", kind::Flag(MEMBER(training.precision.stochastic_rounding)),
          "output gradients are rounded at random (`NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING=1`: "
          "false), in the kernel that quantizes. Takes [no time of its "
          "own](submodules.md#fp8-mxfp8-nvfp4)")
          .Needs("precision: nvfp4"),
      Key("square_blocks", kind::Flag(MEMBER(training.precision.square_blocks)),
          "a scale of weights is of 16 × 16 elements, so that both operands that a weight makes "
          "are alike; otherwise of 16 (`NVTE_NVFP4_DISABLE_2D_QUANTIZATION=1`: false). The kernels "
          "move the same bytes; `quantized_param_gather` needs it")
          .Needs("precision: nvfp4"),
      Key("bf16_layers_at_start",
          kind::Count(MEMBER(training.precision.half_layers_at_start), 0, kMaxLayers),
          "the first layers, whose linear layers stay in bf16")
          .Needs("precision: fp8 or nvfp4")
          .Megatron(
              {Computed("--first-last-layers-bf16"), Computed("--num-layers-at-start-in-bf16")}),
      Key("bf16_layers_at_end",
          kind::Count(MEMBER(training.precision.half_layers_at_end), 0, kMaxLayers),
          "the last layers, whose linear layers stay in bf16")
          .Needs("precision: fp8 or nvfp4")
          .Megatron(
              {Computed("--first-last-layers-bf16"), Computed("--num-layers-at-end-in-bf16")}),
      Key("bf16_linears", kind::Linears(MEMBER(training.precision.half_parts), /*with_mtp=*/true),
          "linear layers that stay in bf16, as a file of Megatron's `--te-precision-config-file` "
          "may "
          "say. `latent`: both projections of latent experts; `mtp`: all of the layers of "
          "multi-token prediction")
          .Needs("precision: fp8 or nvfp4"),
      Key("mxfp8_linears",
          kind::Linears(MEMBER(training.precision.mxfp8_parts), /*with_mtp=*/false),
          "linear layers in MXFP8 beside others in NVFP4")
          .Needs("precision: nvfp4"),
      Key("quantized_param_gather", kind::Flag(MEMBER(training.precision.quantized_gather)),
          "weights of linear layers are stored and gathered in the format of their products; with "
          "`mxfp8` they are gathered in bf16 and quantized afterwards. Needs "
          "`distributed_optimizer`")
          .Needs("precision: fp8 or nvfp4")
          .Megatron({Sets("--fp8-param-gather", "true"), Sets("--fp4-param-gather", "true")}),
      Key("fp8_attention", kind::Flag(MEMBER(training.precision.fp8_attention)),
          "the products of core attention are in fp8, too (cuDNN through Transformer Engine); "
          "needs "
          "`fp8_recipe: delayed` or `tensorwise`")
          .Needs("precision: fp8")
          .Megatron({Sets("--fp8-dot-product-attention", "true")}),
      Key("micro_batch", kind::Count(MEMBER(training.batch.micro), 1, 1 << 20),
          "sequences of a micro-batch")
          .Required()
          .Megatron({Copied("--micro-batch-size")}),
      Key("global_batch", kind::Count(MEMBER(training.batch.global), 1, 1 << 24),
          "sequences of a step; a rank runs global_batch / (micro_batch × data) micro-batches")
          .Required()
          .Megatron({Copied("--global-batch-size"), Computed("--step-batch-size-schedule")}),
      Key("recompute",
          kind::Choice(MEMBER(training.recompute.granularity), {"none", "selective", "full"}),
          "`selective`: backward recomputes some modules of each layer; `full`: whole layers")
          .Required()
          .Megatron({Computed("--recompute-granularity"), Computed("--recompute-activations"),
                     Computed("--moe-layer-recompute")}),
      Key("recompute_modules", kind::Modules(MEMBER(training.recompute.modules)),
          "modules that backward recomputes; `layernorm` are the norms that no product is fused "
          "with: those before experts and latent attention, and all with `kernels: unfused`")
          .Needs("recompute: selective")
          .Default("[core_attn]", &SetModules)
          .Megatron({Computed("--recompute-modules"), Computed("--moe-layer-recompute")}),
      Key("recompute_method", kind::Choice(MEMBER(training.recompute.method), {"uniform", "block"}),
          "`uniform`: groups of `recompute_layers` layers; `block`: the first `recompute_layers` "
          "layers of each model chunk")
          .Needs("recompute: full")
          .Megatron({Copied("--recompute-method")}),
      Key("recompute_layers", kind::Count(MEMBER(training.recompute.layers), 0, kMaxLayers),
          "see `recompute_method`")
          .Needs("recompute: full")
          .Megatron({Copied("--recompute-num-layers")}),
      Key("offload_layers", kind::Count(MEMBER(training.offload_layers), 0, kMaxLayers),
          "the activations of this many layers, from the first, wait on the host between forward "
          "and "
          "backward (framework `megatron`)")
          .Megatron({Computed("--cpu-offloading-num-layers"), Computed("--cpu-offloading")}),
      Key("offload_modules", kind::Offloaded(MEMBER(training.module_offload.modules)),
          "the tensors that these modules of each layer save wait on the host between forward and "
          "backward (framework `megatron`). `attn_norm`: the norm before latent attention; "
          "`qkv_linear`: the projections of queries, keys and values, and what Transformer Engine "
          "fuses with them; `mlp_norm`: the norm before experts; `fused_group_mlp`: "
          "all of the experts with `moe_fused_mlp`")
          .Megatron(
              {Computed("--offload-modules"), Computed("--fine-grained-activation-offloading")}),
      Key("offload_min_elements",
          kind::Count(MEMBER(training.module_offload.min_elements), 0, kMaxElements),
          "elements of the smallest tensor that is offloaded")
          .Needs("offload_modules")
          .Megatron({Computed("--min-offloaded-tensor-size")}),
      Key("optimizer", kind::Choice(MEMBER(training.optimizer.kind), {"adam", "muon"}),
          "`adam`: fp32 master weights and moments; `muon`: of matrices of the layers, the "
          "momentum "
          "alone, made orthogonal by Newton-Schulz steps, and Adam for the rest (framework "
          "`megatron`). With `distributed_optimizer`, each rank updates whole matrices")
          .Required()
          .Megatron({Computed("--optimizer")}),
      Key("muon_steps", kind::Count(MEMBER(training.optimizer.muon.steps), 1, 100),
          "Newton-Schulz steps")
          .Needs("optimizer: muon")
          .Megatron({Computed("--muon-num-ns-steps")}),
      Key("muon_tensor_mode",
          kind::Choice(MEMBER(training.optimizer.muon.tensor_mode),
                       {"blockwise", "duplicated", "distributed"}),
          "matrices that tensor ranks split. `blockwise`: each rank orthogonalizes its part; "
          "`duplicated`: each gathers and orthogonalizes all; `distributed`: all together")
          .Needs("optimizer: muon")
          .Megatron({Computed("--muon-tp-mode")}),
      Key("muon_nesterov", kind::Flag(MEMBER(training.optimizer.muon.nesterov)),
          "Nesterov's momentum")
          .Needs("optimizer: muon")
          .Megatron({Computed("--muon-nesterov")}),
      Key("muon_split_qkv", kind::Flag(MEMBER(training.optimizer.muon.split_qkv)),
          "queries, keys and values of `qkv` are orthogonalized apart")
          .Needs("optimizer: muon")
          .Megatron({Computed("--muon-no-split-qkv")}),
      Key("muon_layout", kind::Flag(MEMBER(training.optimizer.muon.layout)),
          "with `distributed_optimizer`: buckets place whole matrices on ranks, so that gradients "
          "are "
          "reduce-scattered; otherwise (`dist_muon` of 2025) gradients are all-reduced and updated "
          "tensors gathered")
          .Needs("optimizer: muon")
          .Megatron({Computed("--no-use-layer-wise-param-layout")}),
      Key("distributed_optimizer", kind::Flag(MEMBER(training.optimizer.distributed)),
          "optimizer states are split over data parallelism: reduce-scatter of gradients and "
          "all-gather of parameters")
          .Megatron({Sets("--use-distributed-optimizer", "true")}),
      Key("optimizer_instances", kind::Count(MEMBER(training.optimizer.instances), 1, kMaxDegree),
          "groups of data-parallel ranks that each split all states: gradients are "
          "reduce-scattered "
          "within a group and all-reduced over groups, parameters gathered within a group. Divides "
          "the ranks that hold the same weights, and those with the same experts")
          .Megatron({Copied("--num-distributed-optimizer-instances")}),
      Key("gradient_type",
          TypeOf(MEMBER(training.precision.gradients),
                 {DataType::kFp32, DataType::kBf16, DataType::kFp16}),
          "type in which gradients are accumulated and reduced")
          .Default("fp32; with precision fp16, fp16", &SetGradientType)
          .Megatron({Computed("--megatron-fsdp-main-grads-dtype"),
                     Computed("--megatron-fsdp-grad-comm-dtype"), Computed("--grad-reduce-in-bf16"),
                     Computed("--main-grads-dtype"),
                     Computed("--accumulate-allreduce-grads-in-fp32")}),
      Key("kernels", kind::Either(MEMBER(training.kernels.fused), "unfused", "fused"),
          "`fused`: FlashAttention and Transformer Engine; `unfused`: Megatron's kernels of 2022, "
          "where scores, softmax and dropout each pass through memory")
          .Megatron({Computed("--attention-backend"), Computed("--transformer-impl"),
                     Computed("--use-flash-attn"), Computed("--spec")}),
      Key("attention_kernels",
          kind::Choice(MEMBER(training.kernels.attention), {"auto", "flash", "cudnn", "unfused"}),
          "kernels of attention where `kernels` is `fused`. `auto`: what the framework picks on "
          "the GPU; `flash`: FlashAttention; `cudnn`; `unfused`: products, softmax and dropout "
          "one by one")
          .Megatron({Computed("--attention-backend")}),
      Key("sparse_attention_kernels",
          kind::Choice(MEMBER(training.kernels.sparse_attention), {"unfused", "tilelang", "cudnn"}),
          "kernels of attention with `index_topk`. `unfused`: PyTorch's operators over all keys, "
          "in fp32; `tilelang`: Megatron-LM's own; `cudnn`: cuDNN's and FlashMLA's")
          .Needs("model.index_topk")
          .Megatron({Computed("--dsa-kernel-backend")}),
      Key("gradient_accumulation_fusion",
          kind::Flag(MEMBER(training.kernels.gradient_accumulation_fusion)),
          "GEMMs of weight gradients add into the main gradient; otherwise a kernel adds")
          .Megatron({Sets("--no-gradient-accumulation-fusion", "false")}),
      Key("rope_fusion", kind::Flag(MEMBER(training.kernels.rope_fusion)),
          "with `kernels: fused`, one kernel rotates queries and one keys; otherwise PyTorch's "
          "operators do, as always with `positions: yarn` or `index_topk`")
          .Megatron({Sets("--no-rope-fusion", "false")}),
      Key("softmax_fusion", kind::Flag(MEMBER(training.kernels.softmax_fusion)),
          "with `kernels: unfused`, one kernel scales scores of attention, masks them and computes "
          "their softmax; otherwise PyTorch's operators do, in fp32")
          .Megatron({Sets("--no-masked-softmax-fusion", "false")}),
      Key("fused_ops", kind::Flag(MEMBER(training.kernels.fused_ops)),
          "Transformer Engine's operation fuser runs dense MLPs: in fp8, the activation writes the "
          "operands of the products beside it, or finds their largest values")
          .Needs("precision: fp8")
          .Megatron({Sets("--use-transformer-engine-op-fuser", "true")}),
      Key("fp8_activation_input", kind::Flag(MEMBER(training.kernels.fp8_activation_input)),
          "the activation of a dense MLP keeps its input in fp8 for backward; saves memory")
          .Megatron({Sets("--activation-func-fp8-input-store", "true")}),
      Key("tp_only_amax_red", kind::Flag(MEMBER(training.precision.tp_only_amax_red)),
          "the largest values of fp8 tensors are reduced over tensor parallelism alone "
          "(`NVTE_DP_AMAX_REDUCE_INTERVAL=0` of older Transformer Engines); needs `precision: "
          "fp8` with `fp8_recipe: delayed`")
          .Megatron({Sets("--tp-only-amax-red", "true")}),
      Key("gradient_clipping", kind::Flag(MEMBER(training.optimizer.gradient_clipping)),
          "gradients are clipped by their global norm")
          .Megatron({Computed("--clip-grad")}),
      Key("cross_entropy_fusion",
          kind::Choice(MEMBER(training.kernels.cross_entropy_fusion), {"none", "native", "te"}),
          "collectives of the loss over tensor parallelism. `none`: 3 all-reduces; `native`: 2; "
          "`te`: 1 all-gather")
          .Megatron(
              {Computed("--cross-entropy-loss-fusion"), Computed("--cross-entropy-fusion-impl")}),
      Key("causal_flops", kind::Either(MEMBER(training.causal_flops_halved), "full", "half"),
          "how model FLOPs count causal attention: `half` (recent Megatron-LM), `full` (papers up "
          "to 2022)"),
      Key("bucket_elements",
          kind::Count(MEMBER(training.optimizer.bucket_elements), 1, int64_t{1} << 40),
          "elements of a gradient bucket")
          .Default("max(40e6, 1e6 × data)")
          .Megatron({Copied("--ddp-bucket-size")}),
      Key("gradient_buffers", GradientBuffers(),
          "registration of gradient buckets and parameters with NCCL: `plain` (none), "
          "`registered` buffers, `symmetric` windows")
          .Megatron({Computed("--use-nccl-ub"), Computed("--disable-symmetric-registration")}),
      Key("batch_p2p_sync", kind::Flag(MEMBER(training.p2p.batch_sync)),
          "each batched send/receive call synchronizes the device"),
      Key("scatter_gather_p2p", kind::Flag(MEMBER(training.p2p.scatter_gather)),
          "without sequence parallelism, a pipeline message is sent in `tensor` parts and gathered "
          "by the receiver (`true` in Megatron-LM of 2022)"),
      Key("check_gradients", kind::Flag(MEMBER(training.optimizer.check_gradients)),
          "each gradient bucket is checked for NaN before it is reduced (`false` in Megatron-LM of "
          "2022)")
          .Megatron({Computed("--no-check-for-nan-in-loss-and-grad"), Computed("--loss-scale")}),
      Key("step_checks", kind::Flag(MEMBER(training.optimizer.step_checks)),
          "all-reduces at the end of a step agree on success and gradient norm (`false` in "
          "Megatron-LM of 2022)"),
      Key("synchronous_timers", kind::Flag(MEMBER(training.host.synchronous_timers)),
          "timers synchronize the device before and after each forward and backward of a "
          "micro-batch (`true` in Megatron-LM of 2022)"),
      Key("host_launch", kind::Word(MEMBER(training.host.launch)),
          "costs of launching work on the host: a set of `configs/host-launch.yaml`, or `none`; "
          "`eager` needs `kernels: unfused`")
          .Default("`eager` for `kernels: unfused`; `transformer-engine` for framework `megatron`; "
                   "`fused` for other frameworks",
                   &SetHostLaunch)
          .Megatron({Computed("--transformer-impl"), Computed("--spec")}),
      Key("deterministic", kind::Flag(MEMBER(training.host.deterministic)),
          "PyTorch's deterministic algorithms: the host launches a kernel that fills each tensor "
          "before another kernel writes it. The deterministic backward of fused attention counts "
          "as the usual one. Not for framework `fsdp`: torchtitan fills no tensors")
          .Megatron({Sets("--deterministic-mode", "true")}),
      Key("log_params_norm", kind::Flag(MEMBER(training.host.log_params_norm)),
          "each step computes the norm of all parameters, and the host reads it")
          .Megatron({Sets("--log-params-norm", "true")}),
      Key("log_zeros", kind::Flag(MEMBER(training.host.log_zeros)),
          "each step counts the zeros in each tensor of gradients, and the host reads the sum")
          .Megatron({Sets("--log-num-zeros-in-grad", "true")}),
      Key("sample_time", kind::Duration(MEMBER(training.host.sample_time), kLongestSampleTime),
          "time in which the data loader of a rank delivers a sample, in the long run and with all "
          "its workers; `0 s`: data is never late. The loader reads ahead by four micro-batches"),
      Key("cuda_graphs", kind::Graphs(MEMBER(training.host.cuda_graphs)),
          "what is launched as CUDA graphs. `layers`: forward and backward of each layer; `full`: "
          "forward and backward of a micro-batch through all layers of a chunk; `full_iteration`: "
          "forward and backward of all micro-batches and the reduction of gradients; a list: these "
          "parts of each layer ([rules](../explanation/host-launch.md#cuda-graphs))")
          .Megatron({Computed("--cuda-graph-impl"), Computed("--cuda-graph-modules"),
                     Computed("--cuda-graph-scope"), Computed("--enable-cuda-graph"),
                     Computed("--external-cuda-graph")}),
      Key("cuda_graph_impl",
          kind::Choice(MEMBER(training.host.graph_maker), {"transformer_engine", "local"}),
          "who captures the parts of a layer that `cuda_graphs` lists. `local` is Megatron-Core, "
          "which captures `moe_router` and `moe_preprocess` together and can repeat the norm "
          "before experts with any dispatcher")
          .Megatron({Computed("--cuda-graph-impl"), Computed("--enable-cuda-graph")}),
      Key("moe_dispatcher",
          kind::Choice(MEMBER(training.moe.dispatcher),
                       {"alltoall", "allgather", "flex", "hybridep"}, &MoeDispatcherFor),
          "how tokens reach their experts: `alltoall` and `allgather` are calls of NCCL; `flex` is "
          "DeepEP, `hybridep` HybridEP (Megatron-LM's `flex` dispatcher with that backend)")
          .Needs("model.experts")
          .Megatron({Computed("--moe-token-dispatcher-type"),
                     Computed("--moe-flex-dispatcher-backend"), Computed("--moe-enable-deepep")}),
      Key("moe_dispatch_sms", kind::Count(MEMBER(training.moe.dispatch_sms), 1, 1024),
          "SMs of the kernels that exchange tokens; needs dispatcher `flex` or `hybridep`")
          .Needs("model.experts")
          .Default("20 with `flex`, 16 with `hybridep`")
          .Megatron({Computed("--moe-deepep-num-sms"), Computed("--moe-hybridep-num-sms")}),
      Key("moe_deepep", kind::Either(MEMBER(training.moe.low_latency), "normal", "low-latency"),
          "DeepEP's kernels. `normal`: a token crosses the network once for each host, by "
          "`moe_dispatch_sms` SMs. `low-latency`: a copy for each expert goes straight to its GPU, "
          "into buffers for as many tokens as a micro-batch has; needs dispatcher `flex` and "
          "`moe_grouped_kernel: one` ([experts](../explanation/experts.md#low-latency)). "
          "Megatron-LM takes `normal`")
          .Needs("model.experts"),
      Key("moe_counts", kind::Either(MEMBER(training.moe.device_counts), "host", "device"),
          "who reads the number of tokens that each expert gets, unless all get the same number. "
          "`host`: it waits for them in the forward pass of each layer. `device`: kernels read "
          "them, into buffers of a fixed size; needs dispatcher `hybridep` and "
          "`moe_grouped_kernel: one`")
          .Needs("model.experts"),
      Key("moe_capacity_factor", kind::Number(MEMBER(training.moe.capacity_factor), 0, 1e4),
          "an expert takes ceil(tokens × experts_per_token / experts × factor) tokens of a rank; "
          "0: no token is dropped")
          .Needs("model.experts")
          .Megatron({Copied("--moe-expert-capacity-factor")}),
      Key("moe_pad_to_capacity", kind::Flag(MEMBER(training.moe.pad_to_capacity)),
          "all experts get the same number of tokens, so ranks exchange no counts; needs "
          "`moe_capacity_factor`")
          .Needs("model.experts")
          .Megatron({Sets("--moe-pad-expert-input-to-capacity", "true")}),
      Key("moe_imbalance", kind::Number(MEMBER(training.moe.imbalance), 1, 1e4),
          "tokens of the busiest expert-parallel rank divided by the mean; at most `expert`; 1: "
          "uniform")
          .Needs("model.experts"),
      Key("moe_expert_loads", kind::Word(MEMBER(training.moe.loads)),
          "the distribution of the experts' loads, from which `moe_imbalance` follows: one of "
          "`configs/expert-loads.yaml` (`random`, `aux-free`, `aux-loss`), or `uniform` "
          "([experts](../explanation/experts.md#unequal-loads))")
          .Needs("model.experts")
          .Megatron({Computed("--moe-router-force-load-balancing")}),
      Key("moe_aux_loss", kind::Flag(MEMBER(training.moe.aux_loss)),
          "the load-balancing loss, whose token counts each layer reduces over tensor and context "
          "parallelism")
          .Needs("model.experts")
          .Megatron(
              {Computed("--moe-aux-loss-coeff"), Computed("--moe-router-load-balancing-type")}),
      Key("moe_router_fusion", kind::Flag(MEMBER(training.moe.router_fusion)),
          "Transformer Engine's kernels route tokens, in place of PyTorch's operators")
          .Needs("model.experts")
          .Megatron({Sets("--moe-router-fusion", "true")}),
      Key("moe_router_padding", kind::Flag(MEMBER(training.moe.router_padding)),
          "in fp8 and NVFP4, the router picks tokens so that each expert gets a multiple of the "
          "rows that products need. Otherwise, without `moe_pad_to_capacity`, kernels pad the rows "
          "at the experts and remove the padding behind them; with `hybridep`, its own kernels do")
          .Needs("model.experts")
          .Megatron({Sets("--moe-router-padding-for-fp8", "true"),
                     Sets("--moe-router-padding-for-quantization", "true")}),
      Key("moe_grouped_gemm", kind::Flag(MEMBER(training.moe.grouped_gemm)),
          "one module computes all local experts; otherwise each expert is a module of its own")
          .Needs("model.experts")
          .Megatron({Computed("--moe-grouped-gemm")}),
      Key("moe_grouped_kernel", kind::Either(MEMBER(training.moe.one_kernel), "per-expert", "one"),
          "products of `moe_grouped_gemm`. `per-expert`: the host launches one for each expert, as "
          "Transformer Engine and the older grouped_gemm do. `one`: one kernel (CUTLASS, "
          "cuBLASLt's grouped products)")
          .Needs("model.experts")
          .Megatron({Computed("--moe-use-legacy-grouped-gemm")}),
      Key("moe_fused_mlp", kind::Flag(MEMBER(training.moe.fused_mlp)),
          "Transformer Engine's fused grouped MLP (`NVTE_CUTEDSL_FUSED_GROUPED_MLP=1`): the "
          "kernels of the experts' products run the activation, and quantize its result and, in "
          "backward, its gradient; needs MXFP8 and `moe_grouped_kernel: one`. A launch script that "
          "sets the variable is answered with this key")
          .Needs("model.experts"),
  };
}

std::vector<Key> ParallelKeys() {
  return {
      Key("tensor", kind::Count(MEMBER(parallel.tensor), 1, kMaxDegree),
          "tensor-parallel ranks; divides heads, hidden and ffn; divides kv_heads or is divided by "
          "it")
          .Required()
          .Megatron({Copied("--tensor-model-parallel-size")}),
      Key("sequence_parallel", kind::Flag(MEMBER(parallel.sequence_parallel)),
          "needs `tensor` > 1, which then divides `sequence`")
          .Megatron({Sets("--sequence-parallel", "true")}),
      Key("pipeline", kind::Count(MEMBER(parallel.pipeline), 1, kMaxDegree),
          "pipeline stages; pipeline × `virtual_pipeline` divides `layers`")
          .Required()
          .Megatron({Copied("--pipeline-model-parallel-size")}),
      Key("virtual_pipeline", kind::Count(MEMBER(parallel.virtual_pipeline), 1, kMaxDegree),
          "virtual stages of a rank (interleaved 1F1B); micro-batches are then a multiple of "
          "`pipeline`")
          .Megatron({Computed("--num-virtual-stages-per-pipeline-rank"),
                     Computed("--num-layers-per-virtual-pipeline-stage")}),
      Key("layout", kind::Text(MEMBER(parallel.layout)),
          "Megatron's layout string: `E` the embedding, `t` a layer, `m` a layer of multi-token "
          "prediction, `L` final norm, head and loss; `|` ends a virtual stage, `x*n` and "
          "`(...)*n` "
          "repeat, commas are ignored. `Et|(tt|)*30mL` (DeepSeek-V3) with `pipeline` 16 makes "
          "`virtual_pipeline` 2. Stages may be empty. Every `m` follows the last `t`, on the last "
          "virtual stage of a rank that is not on the first pipeline stage")
          .Default("by the keys below")
          .Megatron({Copied("--pipeline-model-parallel-layout")}),
      Key("first_stage_layers", kind::Count(MEMBER(parallel.first_stage_layers), 1, kMaxLayers),
          "layers of the first stage, if it differs from the others")
          .Default("even split")
          .Megatron({Copied("--decoder-first-pipeline-num-layers")}),
      Key("last_stage_layers", kind::Count(MEMBER(parallel.last_stage_layers), 1, kMaxLayers),
          "layers of the last stage, if it differs from the others")
          .Default("even split")
          .Megatron({Copied("--decoder-last-pipeline-num-layers")}),
      Key("account_for_embedding", kind::Flag(MEMBER(parallel.account_for_embedding)),
          "the embedding counts as a layer when layers are split over stages")
          .Megatron({Sets("--account-for-embedding-in-pipeline-split", "true")}),
      Key("account_for_loss", kind::Flag(MEMBER(parallel.account_for_loss)),
          "the loss counts as a layer when layers are split over stages")
          .Megatron({Sets("--account-for-loss-in-pipeline-split", "true")}),
      Key("microbatch_group", kind::Count(MEMBER(parallel.microbatch_group), 1, 1 << 24),
          "micro-batches that pass through a chunk before the next chunk's turn (interleaved "
          "schedules)")
          .Default("`pipeline`")
          .Megatron({Copied("--microbatch-group-size-per-virtual-pipeline-stage")}),
      Key("context", kind::Count(MEMBER(parallel.context), 1, 1 << 20),
          "context-parallel ranks, which split the sequence in attention too")
          .Megatron({Copied("--context-parallel-size")}),
      Key("context_type",
          kind::Choice(MEMBER(parallel.context_type), {"p2p", "a2a", "allgather", "a2a+p2p"}),
          "how context-parallel ranks exchange keys and values; `p2p` is a ring; `a2a+p2p` "
          "exchanges "
          "heads in groups of `context_heads` adjacent ranks, and keys and values around rings of "
          "`context` / `context_heads` ranks")
          .Megatron({Computed("--cp-comm-type")}),
      Key("context_heads", kind::Count(MEMBER(parallel.context_heads), 2, 1 << 20),
          "ranks that exchange heads; divides `context`, and is below it")
          .Needs("context_type: a2a+p2p")
          .Megatron({Computed("--hierarchical-context-parallel-sizes")}),
      Key("expert", kind::Count(MEMBER(parallel.expert), 1, kMaxDegree),
          "expert-parallel ranks, which split the experts; divides `experts`")
          .Megatron({Copied("--expert-model-parallel-size")}),
      Key("expert_tensor", kind::Count(MEMBER(parallel.expert_tensor), 1, kMaxDegree),
          "ranks that split each expert")
          .Default("`tensor`")
          .Megatron({Copied("--expert-tensor-parallel-size")}),
      Key("data", kind::CountOr("auto", MEMBER(parallel.data), 1, 1 << 24),
          "data-parallel ranks: tensor × pipeline × context × data = GPUs of the cluster. `auto` "
          "takes all GPUs"),
      Key("rank_order", kind::Choice(MEMBER(parallel.order), {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"}),
          "order of ranks, fastest dimension first")
          .Megatron({Sets("--use-tp-pp-dp-mapping", "tp-cp-ep-pp-dp")}),
  };
}

std::vector<Key> OverlapKeys() {
  return {
      Key("from", nullptr,
          "a file of Transformer Engine's overlap methods (NeMo's `ub_tp_comm_overlap_cfg`), "
          "relative to this file; the other keys of the section take precedence over it")
          .Default("none")
          .Megatron({Computed("--tp-comm-overlap-cfg")}),
      Key("grad_reduce", kind::Flag(MEMBER(overlap.grad_reduce)),
          "gradient buckets are reduced during the last backward")
          .Megatron({Sets("--overlap-grad-reduce", "true")}),
      Key("param_gather", kind::Flag(MEMBER(overlap.param_gather)),
          "parameters are gathered during the first forward; needs `grad_reduce` and "
          "`distributed_optimizer`")
          .Megatron({Sets("--overlap-param-gather", "true")}),
      Key("p2p", kind::Flag(MEMBER(overlap.p2p)),
          "pipeline messages overlap compute; takes effect with `virtual_pipeline` > 1")
          .Megatron({Computed("--no-overlap-p2p-communication")}),
      Key("p2p_wait_send", kind::Flag(MEMBER(overlap.p2p_wait_send)),
          "with `p2p`: the next backward waits for the forward send"),
      Key("tensor_backward", kind::Flag(MEMBER(overlap.tensor_backward)),
          "the reduction of a column-parallel layer's input gradient overlaps its weight gradient "
          "(Megatron-LM since 2022; Megatron-DeepSpeed of that time reduces it afterwards)"),
      Key("tensor", kind::Flag(MEMBER(overlap.tensor)),
          "Transformer Engine's userbuffers overlap tensor-parallel communication with GEMMs; "
          "needs `sequence_parallel`, fused `kernels` and tensor-parallel groups inside a host; "
          "with `delay_weight_gradients`, needs `tensor_bulk_wgrad: false`")
          .Megatron({Sets("--tp-comm-overlap", "true")}),
      Key("tensor_gather", kind::Flag(MEMBER(overlap.tensor_gather)),
          "with `tensor`: an all-gather before a GEMM becomes a ring that overlaps the parts of "
          "the GEMM")
          .Megatron({Sets("--disable-tp-comm-overlap-ag", "false"),
                     Sets("--disable-tp-comm-split-ag", "false")}),
      Key("tensor_scatter", kind::Flag(MEMBER(overlap.tensor_scatter)),
          "with `tensor`: the reduce-scatter after a GEMM overlaps the parts of the GEMM")
          .Megatron({Sets("--disable-tp-comm-overlap-rs", "false"),
                     Sets("--disable-tp-comm-split-rs", "false")}),
      Key("tensor_scatter_proj", kind::Choice(MEMBER(overlap.scatter_proj), {"pipelined", "ring"}),
          "how `tensor_scatter` splits the GEMM of attention's output projection"),
      Key("tensor_scatter_fc2", kind::Choice(MEMBER(overlap.scatter_fc2), {"pipelined", "ring"}),
          "how `tensor_scatter` splits the second GEMM of the MLP"),
      Key("tensor_bulk_dgrad", kind::Flag(MEMBER(overlap.tensor_bulk_dgrad)),
          "with `tensor`: userbuffers, not NCCL, run the all-gather that overlaps an input "
          "gradient")
          .Megatron({Sets("--disable-tp-comm-bulk-dgrad", "false")}),
      Key("tensor_bulk_wgrad", kind::Flag(MEMBER(overlap.tensor_bulk_wgrad)),
          "with `tensor`: userbuffers, not NCCL, run the reduce-scatter that overlaps a weight "
          "gradient")
          .Megatron({Sets("--disable-tp-comm-bulk-wgrad", "false")}),
      Key("expert", kind::Flag(MEMBER(overlap.expert)),
          "token dispatch and combine of one micro-batch overlap compute of another; needs "
          "`expert` > 1, dispatcher `alltoall`, `flex` or `hybridep`, and `virtual_pipeline` > 1 "
          "with a "
          "pipeline; excludes `recompute: full`, `recompute_modules: [moe]`, `shared_expert` and "
          "more than one of `mtp_layers`")
          .Megatron({Sets("--overlap-moe-expert-parallel-comm", "true")}),
      Key("delay_weight_gradients", kind::Flag(MEMBER(overlap.delay_weight_gradients)),
          "with `expert`: weight gradients are computed after the work that the next exchange "
          "waits for")
          .Megatron({Sets("--delay-wgrad-compute", "true")}),
      Key("shared_expert", kind::Flag(MEMBER(overlap.shared_expert)),
          "shared experts run on a separate stream; needs `shared_expert_ffn`")
          .Megatron({Sets("--moe-shared-expert-overlap", "true")}),
  };
}

std::vector<Key> FsdpKeys() {
  return {
      Key("version", kind::Count(MEMBER(fsdp.version), 1, 2),
          "2: `fully_shard`; 1: `FullyShardedDataParallel`, with one flat parameter per layer and "
          "one for the rest"),
      Key("replicas", kind::Count(MEMBER(fsdp.replicas), 1, 1 << 24),
          "copies of the model among the data-parallel ranks (HSDP); divides `data`. The ranks of "
          "one copy are consecutive"),
      Key("reshard_after_forward",
          kind::Choice(MEMBER(fsdp.reshard_after_forward), {"default", "always", "never"}),
          "whether parameters are freed after forward. `default`: not with a pipeline, and never "
          "those of the final norm and head"),
      Key("gradient_sync",
          kind::Choice(MEMBER(fsdp.gradient_sync),
                       {"default", "every-microbatch", "last-microbatch"}),
          "when gradients are reduced. `default`: `last-microbatch` with a pipeline, after its "
          "last backward; otherwise `every-microbatch`"),
      Key("reduce_type", TypeOf(MEMBER(fsdp.reduce_type), {DataType::kFp32, DataType::kBf16}),
          "type in which gradients are reduced"),
      Key("backward_prefetch", kind::Flag(MEMBER(fsdp.backward_prefetch)),
          "the previous group is gathered while the backward of this group runs"),
      Key("limit_all_gathers", kind::Flag(MEMBER(fsdp.limit_all_gathers)),
          "at most two groups are in flight")
          .Needs("version: 1"),
      Key("offload", kind::Either(MEMBER(fsdp.offload), "none", "cpu"),
          "`cpu`: the host holds parameters, gradients and optimizer states"),
      Key("fp8_recipe", kind::Choice(MEMBER(fsdp.fp8_recipe), {"tensorwise", "rowwise"}),
          "torchao's scales of fp8, from the largest values of the data itself. `tensorwise`: one "
          "a "
          "tensor, and tensor parallelism gathers fp8; `rowwise`: one a row, and it gathers bf16")
          .Needs("training.precision: fp8"),
      Key("fp8_all_gather", kind::Flag(MEMBER(fsdp.fp8_all_gather)),
          "weights of linear layers are cast to fp8 before they are gathered "
          "(`enable_fsdp_float8_all_gather`, `precompute_float8_dynamic_scale_for_fsdp`)")
          .Needs("training.precision: fp8"),
      Key("async_tensor", kind::Flag(MEMBER(fsdp.async_tensor)),
          "asynchronous tensor parallelism: in the layers, copies between GPUs run beside parts of "
          "the products (`enable_async_tensor_parallel`). Needs `tensor` > 1 and `kernels: fused`, "
          "which is `torch.compile`"),
  };
}

std::vector<Key> MegatronFsdpKeys() {
  return {
      Key("sharding",
          kind::Choice(MEMBER(megatron_fsdp.sharding),
                       {"none", "no_shard", "optim", "optim_grads", "optim_grads_params"}),
          "what is split over data-parallel ranks: optimizer states, gradients, parameters. With "
          "`optim_grads`, gradients are reduced in each micro-batch; with `optim_grads_params`, "
          "each "
          "layer is gathered before its forward and before its backward. `none`: no Megatron-FSDP")
          .Megatron({Computed("--use-megatron-fsdp"), Computed("--use-custom-fsdp"),
                     Computed("--data-parallel-sharding-strategy")}),
      Key("outer_sharding",
          kind::Either(MEMBER(megatron_fsdp.outer_optimizer), "no_shard", "optim"),
          "with `optimizer_instances`: whether the instances split the optimizer's states, too")
          .Needs("sharding: optim_grads_params")
          .Megatron({Computed("--outer-dp-sharding-strategy")}),
      Key("double_buffer", kind::Flag(MEMBER(megatron_fsdp.double_buffer)),
          "two layers at most are gathered at the same time, in buffers that stay; likewise two "
          "layers' gradients")
          .Needs("sharding: no_shard or optim or optim_grads or optim_grads_params")
          .Megatron({Computed("--fsdp-double-buffer"), Computed("--use-nccl-ub"),
                     Computed("--megatron-fsdp-max-pool-double-buffer")}),
      Key("communication_elements",
          kind::Count(MEMBER(megatron_fsdp.communication_elements), 1, kMaxElements),
          "gradients whose reduction may run while compute goes on; half as many parameters are "
          "gathered ahead")
          .Default("the larger of 1e9 and twice the mean layer")
          .Needs("sharding: no_shard or optim or optim_grads or optim_grads_params")
          .Megatron({Computed("--suggested-communication-unit-size")}),
      Key("per_token_loss", kind::Flag(MEMBER(megatron_fsdp.per_token_loss)),
          "gradients are divided by the number of tokens after the step's last reduction, and not "
          "by the ranks before each")
          .Needs("sharding: no_shard or optim or optim_grads or optim_grads_params")
          .Megatron({Computed("--calculate-per-token-loss")}),
  };
}

std::vector<Key> ZeroKeys() {
  return {
      Key("stage", kind::Count(MEMBER(zero.stage), 1, 3),
          "1: optimizer states are sharded; 2: gradients too; 3: parameters too. Pipelines need 1")
          .Required(),
      Key("reduce_bucket_size", kind::Count(MEMBER(zero.reduce_bucket_size), 1, kMaxElements),
          "elements that are reduced together"),
      Key("overlap_comm", kind::Flag(MEMBER(zero.overlap_comm)),
          "the reduction of a bucket overlaps backward; compute waits for it before the next one")
          .Default("`true` with stage 3, otherwise `false`", &SetOverlapComm),
      Key("offload_optimizer", kind::Either(MEMBER(zero.offload_optimizer), "none", "cpu"),
          "`cpu`: the host holds optimizer states and fp32 parameters, and updates them; `nvme` is "
          "not modeled"),
      Key("prefetch_bucket_size", kind::Count(MEMBER(zero.prefetch_bucket_size), 0, kMaxElements),
          "elements of parameters that are gathered ahead of each module")
          .Needs("stage: 3"),
      Key("param_persistence_threshold",
          kind::Count(MEMBER(zero.param_persistence_threshold), 0, kMaxElements),
          "smaller parameters stay gathered")
          .Needs("stage: 3"),
      Key("max_live_parameters", kind::Count(MEMBER(zero.max_live_parameters), 0, kMaxElements),
          "largest number of elements that are gathered at a time")
          .Needs("stage: 3"),
      Key("max_reuse_distance", kind::Count(MEMBER(zero.max_reuse_distance), 0, kMaxElements),
          "parameters that are needed again within this number of elements stay gathered")
          .Needs("stage: 3"),
      Key("sub_group_size", kind::Count(MEMBER(zero.sub_group_size), 1, kMaxElements),
          "elements that are updated at a time")
          .Needs("stage: 3"),
      Key("offload_param", kind::Either(MEMBER(zero.offload_param), "none", "cpu"),
          "`cpu`: the host holds the shards of parameters too; needs `stage: 3` and "
          "`offload_optimizer`"),
      Key("reduce_scatter", kind::Flag(MEMBER(zero.reduce_scatter)),
          "buckets are reduce-scattered; otherwise they are all-reduced and each rank keeps its "
          "shard")
          .Needs("stage: 1 or 2"),
      Key("allgather", kind::Either(MEMBER(zero.bucketed_allgather), "whole", "buckets"),
          "how parameters are gathered after the step. `whole`: one all-gather; `buckets`: by "
          "`allgather_bucket_size`, as without `all_gather_into_tensor`")
          .Needs("stage: 1 or 2"),
      Key("allgather_bucket_size", kind::Count(MEMBER(zero.allgather_bucket_size), 1, kMaxElements),
          "elements that are gathered together")
          .Needs("allgather: buckets"),
  };
}

std::vector<Key> MemoryKeys() {
  const Bytes most(int64_t{1} << 40);
  return {
      Key("cuda_context", kind::Size(MEMBER(memory.cuda_context), most),
          "CUDA context and kernels of a process (assumed)"),
      Key("nccl_communicator", kind::Size(MEMBER(memory.nccl_communicator), most),
          "buffers of each communicator of a rank: 16 connections (assumed) of 4 MiB (Simple), 120 "
          "× 640 × 8 × 8 B (LL128) and 8 × 512 × 8 × 16 B (LL), NCCL's defaults in `device.h` and "
          "`init.cc`"),
      Key("cublas_workspace", kind::Size(MEMBER(memory.cublas_workspace), most),
          "cuBLAS workspace of each of PyTorch's two handles, of the forward's thread and of "
          "autograd's (`CUDABlas` in PyTorch; `CUBLAS_WORKSPACE_CONFIG=:4096:8` makes it 32 MiB)")
          .Default("32 MiB from compute capability 9.0, before it 8.125 MiB"),
      Key("te_workspace", kind::Size(MEMBER(memory.te_workspace), most),
          "cuBLAS workspace of Transformer Engine; products of experts have four more "
          "(`cpp_extensions/gemm.py`)")
          .Default("32 MiB from compute capability 9.0, before it 4 MiB"),
      Key("fragmentation", kind::Fraction(MEMBER(memory.fragmentation)),
          "share of the rest that the allocator holds and cannot give out"),
      Key("cuda_graph_launch", kind::Size(MEMBER(memory.cuda_graph_launch), most),
          "device memory of each launch that a CUDA graph holds: 65536 B before CUDA 12.4 and "
          "driver 550, nothing since (PyTorch's page on CUDAGraph Trees)"),
  };
}

#undef MEMBER

std::vector<Section> MakeSections() {
  return {
      {"model", true, {}, "The shape of the transformer.", ModelKeys(), &CheckModel},
      {"training", true, {}, "How the model is trained.", TrainingKeys(), &CheckTraining},
      {"parallel", true, {}, "How the model is spread over ranks.", ParallelKeys(), &CheckParallel},
      {"overlap", false, {}, "What overlaps compute.", OverlapKeys(), &CheckOverlap},
      {"fsdp", false, FrameworkKind::kFsdp, "PyTorch's Fully Sharded Data Parallel.", FsdpKeys(),
       nullptr},
      {"megatron_fsdp", false, FrameworkKind::kMegatron,
       "Megatron-FSDP, which splits a model layer by layer over data-parallel ranks.",
       MegatronFsdpKeys(), nullptr},
      {"zero", true, FrameworkKind::kDeepSpeed,
       "DeepSpeed's `zero_optimization`. Sizes are in elements.", ZeroKeys(), &CheckZero},
      {"memory", false, {}, "Memory of a rank that no program states.", MemoryKeys(), nullptr},
  };
}

}  // namespace

const std::vector<Section>& Sections() {
  static const std::vector<Section> sections = MakeSections();
  return sections;
}

}  // namespace drydock
