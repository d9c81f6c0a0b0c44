#include "workload-gen/import/hf/hf_families.h"

#include <initializer_list>

namespace drydock {
namespace {

using Fields = std::set<std::string>;

Fields Join(std::initializer_list<Fields> sets) {
  Fields all;
  for (const Fields& fields : sets) all.insert(fields.begin(), fields.end());
  return all;
}

// Sets of fields that families share.
Fields Decoder() {
  return {"num_hidden_layers", "hidden_size",         "num_attention_heads", "num_key_value_heads",
          "head_dim",          "intermediate_size",   "vocab_size",          "hidden_act",
          "hidden_activation", "tie_word_embeddings", "attention_dropout"};
}
Fields Window() { return {"sliding_window", "sliding_window_size", "layer_types"}; }
Fields QwenWindow() {
  return {"sliding_window", "layer_types", "use_sliding_window", "max_window_layers"};
}
Fields QwenExperts() {
  return {"num_experts", "num_experts_per_tok", "moe_intermediate_size", "decoder_sparse_step",
          "mlp_only_layers"};
}
// Experts beside shared ones, after dense layers.
Fields SharedExperts() {
  return {"n_routed_experts",      "num_experts_per_tok",     "n_shared_experts",
          "moe_intermediate_size", "first_k_dense_replace",   "moe_layer_freq",
          "topk_method",           "num_nextn_predict_layers"};
}
Fields DeltaNet() {
  return {"full_attention_interval", "linear_num_key_heads",  "linear_num_value_heads",
          "linear_key_head_dim",     "linear_value_head_dim", "linear_conv_kernel_dim"};
}
Fields DeepSeek() {
  Fields fields = Join({Decoder(),
                        SharedExperts(),
                        {"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim",
                         "v_head_dim", "mlp_layer_types"}});
  fields.erase("num_key_value_heads");
  fields.erase("head_dim");
  return fields;
}

// Rotary positions, gated MLP, RMS norm, no biases.
std::vector<HfDefault> LlamaLike(std::initializer_list<HfDefault> more = {}) {
  std::vector<HfDefault> presets = {{"architecture", "llama"}};
  presets.insert(presets.end(), more.begin(), more.end());
  return presets;
}

// use_sliding_window enables windows, in layers from max_window_layers on.
constexpr HfWindows kQwenWindows = {.width = 4096, .full_first = 28};

std::vector<HfFamily> MakeFamilies() {
  const Fields gpt2 = {"n_layer",
                       "n_embd",
                       "n_head",
                       "n_inner",
                       "n_positions",
                       "vocab_size",
                       "hidden_act",
                       "activation_function",
                       "resid_pdrop",
                       "attn_pdrop",
                       "tie_word_embeddings"};
  const Fields encoder = {"num_hidden_layers",
                          "hidden_size",
                          "num_attention_heads",
                          "intermediate_size",
                          "hidden_act",
                          "hidden_dropout_prob",
                          "attention_probs_dropout_prob",
                          "qkv_bias"};
  std::vector<HfFamily> list;
  list.push_back({"gpt2",
                  false,
                  {},
                  {{"architecture", "gpt"}, {"dropout", "0.1"}, {"attention_dropout", "0.1"}},
                  gpt2,
                  {"add_cross_attention"}});
  list.push_back({"llama", true, {}, LlamaLike(), Decoder(), {"attention_bias", "mlp_bias"}});
  list.push_back({"mistral",
                  true,
                  {.width = 4096},
                  LlamaLike({{"kv_heads", "8"}}),
                  Join({Decoder(), Window()}),
                  {}});
  list.push_back({"mixtral",
                  true,
                  {},
                  LlamaLike({{"experts", "8"}, {"experts_per_token", "2"}, {"kv_heads", "8"}}),
                  Join({Decoder(), Window(), {"num_local_experts", "num_experts_per_tok"}}),
                  {}});
  list.push_back({"qwen2",
                  true,
                  kQwenWindows,
                  LlamaLike({{"qkv_bias", "true"}, {"kv_heads", "32"}}),
                  Join({Decoder(), QwenWindow()}),
                  {}});
  list.push_back(
      {"qwen2_moe",
       true,
       kQwenWindows,
       LlamaLike({{"qkv_bias", "true"}, {"shared_expert_gate", "true"}, {"kv_heads", "16"}}),
       Join({Decoder(),
             QwenWindow(),
             QwenExperts(),
             {"shared_expert_intermediate_size", "qkv_bias"}}),
       {}});
  list.push_back({"qwen3",
                  true,
                  kQwenWindows,
                  LlamaLike({{"qk_norm", "true"}, {"head_dim", "128"}, {"kv_heads", "32"}}),
                  Join({Decoder(), QwenWindow()}),
                  {"attention_bias"}});
  list.push_back({"qwen3_moe",
                  true,
                  {.width = 4096},
                  LlamaLike({{"qk_norm", "true"}, {"kv_heads", "4"}}),
                  Join({Decoder(), QwenWindow(), QwenExperts()}),
                  {"attention_bias"}});
  list.push_back({"deepseek_v2", true, {}, LlamaLike(), DeepSeek(), {"attention_bias"}});
  list.push_back({"deepseek_v3",
                  true,
                  {},
                  LlamaLike({{"router_bias", "true"}}),
                  DeepSeek(),
                  {"attention_bias"}});
  list.push_back(
      {"deepseek_v32",
       true,
       {},
       LlamaLike({{"router_bias", "true"}}),
       Join({DeepSeek(), {"index_topk", "index_n_heads", "index_head_dim", "index_topk_freq"}}),
       {"attention_bias"}});
  const std::initializer_list<HfDefault> gemma = {
      {"tied_embedding", "true"}, {"activation", "geglu"}, {"head_dim", "256"}, {"kv_heads", "16"}};
  list.push_back({"gemma", true, {}, LlamaLike(gemma), Decoder(), {"attention_bias"}});
  const std::initializer_list<HfDefault> later = {{"tied_embedding", "true"},
                                                  {"activation", "geglu"},
                                                  {"head_dim", "256"},
                                                  {"kv_heads", "4"},
                                                  {"post_norms", "true"}};
  list.push_back({"gemma2",
                  true,
                  {.width = 4096, .full_every = 2},
                  LlamaLike(later),
                  Join({Decoder(), Window()}),
                  {"attention_bias"}});
  const std::initializer_list<HfDefault> third = {
      {"tied_embedding", "true"}, {"activation", "geglu"}, {"head_dim", "256"},
      {"post_norms", "true"},     {"qk_norm", "true"},     {"heads", "8"},
      {"kv_heads", "4"},          {"vocab", "262208"}};
  const Fields gemma3 =
      Join({Decoder(), Window(), {"sliding_window_pattern", "use_bidirectional_attention"}});
  list.push_back({"gemma3_text",
                  true,
                  {.width = 4096, .full_every = 6},
                  LlamaLike(third),
                  gemma3,
                  {"attention_bias"}});
  list.push_back({"nemotron",
                  false,
                  {},
                  {{"architecture", "gpt"},
                   {"positions", "rotary"},
                   {"tied_embedding", "false"},
                   {"bias", "false"},
                   {"activation", "squared-relu"}},
                  Decoder(),
                  {"attention_bias", "mlp_bias"}});
  // Layers by hybrid_override_pattern; attention without positions.
  list.push_back({"nemotron_h",
                  false,
                  {},
                  LlamaLike({{"activation", "squared-relu"}, {"positions", "none"}}),
                  Join({Decoder(),
                        {"hybrid_override_pattern",
                         "layers_block_type",
                         "mtp_layers_block_type",
                         "mtp_hybrid_override_pattern",
                         "hidden_dropout",
                         "mamba_num_heads",
                         "mamba_head_dim",
                         "ssm_state_size",
                         "n_groups",
                         "attention_head_dim",
                         "mlp_hidden_act",
                         "n_routed_experts",
                         "num_experts_per_tok",
                         "n_shared_experts",
                         "moe_intermediate_size",
                         "moe_shared_expert_intermediate_size",
                         "moe_latent_size",
                         "num_nextn_predict_layers",
                         "conv_kernel",
                         "expand"}}),
                  {"attention_bias", "mlp_bias", "use_bias", "mamba_proj_bias"}});
  // Every layer is a Mamba-2 mixer.
  list.push_back({"mamba2",
                  true,
                  {},
                  LlamaLike({{"positions", "none"}}),
                  {"num_hidden_layers", "hidden_size", "vocab_size", "tie_word_embeddings",
                   "hidden_act", "intermediate_size", "num_heads", "head_dim", "state_size",
                   "n_groups", "conv_kernel", "expand", "residual_in_fp32"},
                  {"use_bias"},
                  /*own_activation=*/true});
  const std::initializer_list<HfDefault> delta = {
      {"qk_norm", "true"},       {"attention_gate", "true"},
      {"head_dim", "256"},       {"delta_attention_every", "4"},
      {"delta_key_heads", "16"}, {"delta_value_heads", "32"}};
  const auto with_delta = [&delta](std::initializer_list<HfDefault> more) {
    std::vector<HfDefault> presets = LlamaLike(delta);
    presets.insert(presets.end(), more.begin(), more.end());
    return presets;
  };
  list.push_back({"qwen3_next",
                  true,
                  {},
                  with_delta({{"shared_expert_gate", "true"}, {"kv_heads", "2"}}),
                  Join({Decoder(), QwenExperts(), DeltaNet(), {"shared_expert_intermediate_size"}}),
                  {"attention_bias"}});
  const Fields qwen35 =
      Join({Decoder(), DeltaNet(), {"attn_output_gate", "mtp_num_hidden_layers"}});
  list.push_back({"qwen3_5_text",
                  true,
                  {},
                  with_delta({{"kv_heads", "4"}}),
                  qwen35,
                  {"attention_bias", "mtp_use_dedicated_embeddings"}});
  list.push_back({"qwen3_5_moe_text",
                  true,
                  {},
                  with_delta({{"shared_expert_gate", "true"}, {"kv_heads", "2"}}),
                  Join({qwen35, QwenExperts(), {"shared_expert_intermediate_size"}}),
                  {"attention_bias", "mtp_use_dedicated_embeddings"}});
  // attention_bias is that of queries, keys and values.
  list.push_back({"mimo",
                  true,
                  kQwenWindows,
                  LlamaLike({{"qkv_bias", "true"}, {"kv_heads", "32"}}),
                  Join({Decoder(), QwenWindow(), {"attention_bias", "num_nextn_predict_layers"}}),
                  {}});
  list.push_back(
      {"glm4_moe",
       true,
       {},
       LlamaLike({{"router_bias", "true"}, {"kv_heads", "8"}, {"head_dim", "128"}}),
       Join({Decoder(), SharedExperts(), {"attention_bias", "use_qk_norm", "mlp_layer_types"}}),
       {}});
  list.push_back({"phi3",
                  true,
                  {},
                  LlamaLike(),
                  Join({Decoder(), Window(), {"resid_pdrop"}}),
                  {"attention_bias", "mlp_bias", "lm_head_bias"}});
  const std::initializer_list<HfDefault> olmo = {{"pre_norms", "false"},
                                                 {"post_norms", "true"},
                                                 {"qk_norm", "true"},
                                                 {"qk_norm_kind", "whole"}};
  list.push_back({"olmo2", true, {}, LlamaLike(olmo), Decoder(), {"attention_bias"}});
  list.push_back({"olmo3",
                  true,
                  {.width = 4096, .full_every = 4},
                  LlamaLike(olmo),
                  Join({Decoder(), Window()}),
                  {"attention_bias"}});
  // intermediate_size is the width of an expert.
  list.push_back({"olmoe",
                  true,
                  {},
                  LlamaLike({{"qk_norm", "true"},
                             {"qk_norm_kind", "whole"},
                             {"experts", "64"},
                             {"experts_per_token", "8"}}),
                  Join({Decoder(), {"num_experts", "num_experts_per_tok"}}),
                  {"attention_bias", "clip_qkv"}});
  list.push_back(
      {"llama4_text",
       true,
       {},
       LlamaLike({{"head_dim", "128"}, {"kv_heads", "8"}}),
       Join({Decoder(),
             {"num_local_experts", "num_experts_per_tok", "intermediate_size_mlp",
              "interleave_moe_layer_step", "moe_layers", "attention_chunk_size", "no_rope_layers",
              "no_rope_layer_interval", "use_qk_norm", "layer_types"}}),
       {"attention_bias"}});
  list.push_back({"smollm3",
                  true,
                  {},
                  LlamaLike({{"kv_heads", "4"}, {"tied_embedding", "true"}}),
                  Join({Decoder(), {"no_rope_layers", "no_rope_layer_interval", "layer_types"}}),
                  {"attention_bias", "mlp_bias", "use_sliding_window"}});
  // intermediate_size is the width of an expert.
  list.push_back({"minimax_m2",
                  true,
                  {},
                  LlamaLike({{"qk_norm", "true"}, {"router_bias", "true"}, {"kv_heads", "8"}}),
                  Join({Decoder(),
                        {"num_local_experts", "num_experts_per_tok", "shared_intermediate_size",
                         "use_routing_bias", "use_qk_norm", "qk_norm_type", "use_mtp",
                         "attn_type_list", "num_mtp_modules", "mtp_transformer_layers"}}),
                  {"attention_bias"}});
  list.push_back({"granite", true, {}, LlamaLike(), Decoder(), {"attention_bias", "mlp_bias"}});
  // A layer is attention and an MLP, or one of them, as symbols of a pattern.
  list.push_back({"nemotron-nas",
                  true,
                  {},
                  LlamaLike(),
                  Join({Decoder(), {"block_configs"}}),
                  {"attention_bias", "mlp_bias"}});
  // A layer is a mixer and an MLP, two symbols of a pattern.
  list.push_back({"bamba",
                  true,
                  {},
                  LlamaLike({{"kv_heads", "8"}}),
                  Join({Decoder(),
                        {"attn_layer_indices", "mamba_n_heads", "mamba_d_head", "mamba_d_state",
                         "mamba_n_groups", "mamba_d_conv", "mamba_expand"}}),
                  {"attention_bias", "mlp_bias", "mamba_proj_bias", "num_experts"}});
  list.push_back(
      {"granitemoehybrid",
       true,
       {},
       LlamaLike(),
       Join({Decoder(),
             {"layer_types", "layers_block_type", "mamba_n_heads", "mamba_d_head", "mamba_d_state",
              "mamba_n_groups", "mamba_d_conv", "mamba_expand", "num_local_experts",
              "num_experts_per_tok", "shared_intermediate_size", "position_embedding_type"}}),
       {"attention_bias", "mlp_bias", "mamba_proj_bias"}});
  // intermediate_size is the width of an expert.
  list.push_back(
      {"gpt_oss",
       true,
       {.width = 128, .full_every = 2},
       LlamaLike({{"bias", "true"},
                  {"attention_sinks", "true"},
                  {"positions", "yarn"},
                  {"activation", "geglu"},
                  {"activation_clamp", "7"},
                  {"head_dim", "64"},
                  {"kv_heads", "8"},
                  {"experts", "128"},
                  {"experts_per_token", "4"}}),
       Join({Decoder(),
             Window(),
             {"num_local_experts", "num_experts_per_tok", "attention_bias", "swiglu_limit"}}),
       {},
       /*own_activation=*/true});
  list.push_back({"bert",
                  false,
                  {},
                  {{"architecture", "gpt"}, {"causal", "false"}},
                  Join({encoder, {"vocab_size", "max_position_embeddings", "tie_word_embeddings"}}),
                  {"add_cross_attention"}});
  list.push_back(
      {"vit",
       false,
       {},
       {{"architecture", "gpt"}, {"causal", "false"}, {"tied_embedding", "false"}},
       Join({encoder, {"image_size", "patch_size", "num_channels", "id2label", "num_labels"}}),
       {}});
  return list;
}

}  // namespace

const std::vector<HfFamily>& HfFamilies() {
  static const std::vector<HfFamily> families = MakeFamilies();
  return families;
}

const std::vector<HfAlias>& HfAliases() {
  static const std::vector<HfAlias> aliases = {
      {"glm4_moe_lite", "deepseek_v3"},
      {"glm4v_moe_text", "glm4_moe"},
      {"glm_moe_dsa", "deepseek_v32"},
      {"kimi_k2", "deepseek_v3"},
      {"phi4", "phi3"},
      {"qwen2_5_vl", "qwen2"},
      {"qwen2_5_vl_text", "qwen2"},
      {"qwen2_vl", "qwen2"},
      {"qwen2_vl_text", "qwen2"},
      {"qwen3_vl_moe_text", "qwen3_moe"},
      {"qwen3_vl_text", "qwen3"},
  };
  return aliases;
}

const std::vector<HfMissing>& HfMissingParts() {
  static const std::vector<HfMissing> parts = {
      {"deepseek_v4",
       "attention to compressed keys (compress_ratios), several residual streams (hc_mult), "
       "grouped output projections (o_groups, o_lora_rank) and routing by hashes "
       "(num_hash_layers)"},
      {"falcon", "attention and MLP side by side on one input (parallel_attn)"},
      {"falcon_h1", "attention and Mamba-2 side by side in each layer (ssm_in_multiplier)"},
      {"falcon_mamba", "Mamba-1 layers (time_step_rank)"},
      {"gemma4",
       "layers without a window whose attention has another shape (global_head_dim, "
       "num_global_key_value_heads, attention_k_eq_v), and experts beside the MLP of a layer "
       "(enable_moe_block)"},
      {"jamba", "Mamba-1 layers (mamba_dt_rank)"},
      {"kimi_linear", "Kimi Delta Attention (linear_attn_config)"},
      {"mamba", "Mamba-1 layers (time_step_rank)"},
      {"mimo_v2_flash",
       "layers with a window whose attention has another shape (swa_num_key_value_heads, "
       "swa_head_dim)"},
      {"minimax_m3", "attention to picked blocks of keys (sparse_attention_config)"},
      {"step3p7", "attention whose shape differs from layer to layer"},
      {"zamba", "attention layers that share their weights (attn_layer_period)"},
      {"zamba2", "attention layers that share their weights (num_mem_blocks)"},
  };
  return parts;
}

const std::vector<HfField>& HfCopiedFields() {
  static const std::vector<HfField> fields = {
      {"num_hidden_layers", "layers"},
      {"n_layer", "layers"},
      {"hidden_size", "hidden"},
      {"n_embd", "hidden"},
      {"num_attention_heads", "heads"},
      {"n_head", "heads"},
      {"num_key_value_heads", "kv_heads"},
      {"head_dim", "head_dim"},
      {"intermediate_size", "ffn"},
      {"n_inner", "ffn"},
      {"vocab_size", "vocab"},
      {"n_positions", "sequence"},
      {"n_positions", "max_positions"},
      {"max_position_embeddings", "sequence"},
      {"max_position_embeddings", "max_positions"},
      {"tie_word_embeddings", "tied_embedding"},
      {"attention_bias", "qkv_bias"},
      {"qkv_bias", "qkv_bias"},
      {"resid_pdrop", "dropout"},
      {"hidden_dropout_prob", "dropout"},
      {"hidden_dropout", "dropout"},
      {"attn_pdrop", "attention_dropout"},
      {"attention_dropout", "attention_dropout"},
      {"attention_probs_dropout_prob", "attention_dropout"},
      {"q_lora_rank", "q_lora_rank"},
      {"kv_lora_rank", "kv_lora_rank"},
      {"qk_nope_head_dim", "qk_nope_dim"},
      {"qk_rope_head_dim", "qk_rope_dim"},
      {"v_head_dim", "value_dim"},
      {"index_topk", "index_topk"},
      {"index_n_heads", "index_heads"},
      {"index_head_dim", "index_head_dim"},
      {"num_local_experts", "experts"},
      {"num_experts", "experts"},
      {"n_routed_experts", "experts"},
      {"num_experts_per_tok", "experts_per_token"},
      {"moe_intermediate_size", "expert_ffn"},
      {"shared_expert_intermediate_size", "shared_expert_ffn"},
      {"first_k_dense_replace", "first_dense_layers"},
      {"moe_layer_freq", "moe_every"},
      {"num_nextn_predict_layers", "mtp_layers"},
      {"mtp_num_hidden_layers", "mtp_layers"},
      {"attn_output_gate", "attention_gate"},
      {"use_qk_norm", "qk_norm"},
      {"use_routing_bias", "router_bias"},
      {"swiglu_limit", "activation_clamp"},
      {"mamba_n_heads", "mamba_heads"},
      {"mamba_d_head", "mamba_head_dim"},
      {"mamba_d_state", "mamba_state"},
      {"mamba_n_groups", "mamba_groups"},
      {"hybrid_override_pattern", "layer_pattern"},
      {"mamba_num_heads", "mamba_heads"},
      {"mamba_head_dim", "mamba_head_dim"},
      {"ssm_state_size", "mamba_state"},
      {"n_groups", "mamba_groups"},
      {"attention_head_dim", "head_dim"},
      {"moe_shared_expert_intermediate_size", "shared_expert_ffn"},
      {"moe_latent_size", "expert_latent"},
      {"full_attention_interval", "delta_attention_every"},
      {"linear_num_key_heads", "delta_key_heads"},
      {"linear_num_value_heads", "delta_value_heads"},
      {"linear_key_head_dim", "delta_key_dim"},
      {"linear_value_head_dim", "delta_value_dim"},
  };
  return fields;
}

const std::vector<HfActivation>& HfActivations() {
  static const std::vector<HfActivation> activations = {
      {"gelu", "gelu", "geglu"},      {"gelu_new", "gelu", "geglu"},
      {"gelu_fast", "gelu", "geglu"}, {"gelu_pytorch_tanh", "gelu", "geglu"},
      {"silu", nullptr, "swiglu"},    {"swish", nullptr, "swiglu"},
      {"relu", "relu", nullptr},      {"relu2", "squared-relu", nullptr},
  };
  return activations;
}

const std::map<std::string, std::string>& HfUnmodeled() {
  static const std::map<std::string, std::string> fields = {
      {"attention_multiplier", "a scale of attention scores, inside the kernel"},
      {"attn_logit_softcapping", "a bound of attention scores, inside the kernel"},
      {"attn_temperature_tuning", "kernels that scale the queries of layers without positions"},
      {"embedding_multiplier", "a kernel that scales the embedding"},
      {"final_logit_softcapping", "kernels that bound the logits"},
      {"logits_scaling", "a kernel that scales the logits"},
      {"n_group", "a choice of expert groups in the router kernels"},
      {"residual_multiplier", "a kernel that scales each branch"},
      {"reorder_and_upcast_attn", "attention in fp32"},
      {"topk_group", "a choice of expert groups in the router kernels"},
      {"type_vocab_size", "an embedding of token types"},
  };
  return fields;
}

const std::set<std::string>& HfHarmless() {
  static const std::set<std::string> fields = {
      "_attn_implementation",
      "_name_or_path",
      "attn_implementation",
      "attn_rotary_emb",
      "attn_scale",
      "auto_map",
      "aux_loss_alpha",
      "bad_words_ids",
      "begin_suppress_tokens",
      "bos_token_id",
      "cache_implementation",
      "classifier_dropout",
      "cls_token_id",
      "decoder_start_token_id",
      "diversity_penalty",
      "do_sample",
      "early_stopping",
      "encoder_no_repeat_ngram_size",
      "encoder_stride",
      "eos_token_id",
      "ep_size",
      "exponential_decay_length_penalty",
      "finetuning_task",
      "floor_scale",
      "for_llm_compressor",
      "forced_bos_token_id",
      "forced_eos_token_id",
      "id2label",
      "image_token_id",
      "indexer_rope_interleave",
      "initial_context_length",
      "initializer_range",
      "interpolate_factor",
      "label2id",
      "label_smoothing",
      "layer_norm_eps",
      "layer_norm_epsilon",
      "layernorm_epsilon",
      "length_penalty",
      "mamba_ssm_cache_dtype",
      "max_length",
      "max_position_embeddings",
      "min_length",
      "mrope_section",
      "mtp_loss_scaling_factor",
      "n_ctx",
      "n_positions",
      "no_repeat_ngram_size",
      "norm_before_gate",
      "norm_eps",
      "norm_topk_prob",
      "num_beam_groups",
      "num_beams",
      "num_labels",
      "num_logits_to_keep",
      "num_return_sequences",
      "original_max_position_embeddings",
      "output_attentions",
      "output_hidden_states",
      "output_router_logits",
      "output_scores",
      "pad_token_id",
      "partial_rotary_factor",
      "pooler_act",
      "pooler_output_size",
      "prefix",
      "problem_type",
      "qk_head_dim",
      "quantization_config",
      "query_pre_attn_scalar",
      "remove_invalid_values",
      "repetition_penalty",
      "rescale_prenorm_residual",
      "return_dict",
      "return_dict_in_generate",
      "rms_norm_eps",
      "rope_interleave",
      "rope_local_base_freq",
      "rope_parameters",
      "rope_scaling",
      "rope_theta",
      "rotary_dim",
      "routed_scaling_factor",
      "router_aux_loss_coef",
      "router_bias_update_rate",
      "scale_attn_by_inverse_layer_idx",
      "scale_attn_weights",
      "scoring_func",
      "sep_token_id",
      "seq_aux",
      "summary_activation",
      "summary_first_dropout",
      "summary_proj_to_labels",
      "summary_type",
      "summary_use_proj",
      "suppress_tokens",
      "task_specific_params",
      "temperature",
      "tf_legacy_loss",
      "time_step_floor",
      "time_step_init_scheme",
      "time_step_limit",
      "time_step_max",
      "time_step_min",
      "time_step_rank",
      "time_step_scale",
      "tokenizer_class",
      "top_k",
      "top_p",
      "topk_method",
      "torchscript",
      "transformers_version",
      "typical_p",
      "unk_token_id",
      "use_bfloat16",
      "use_cache",
      "use_mamba_kernels",
      "use_mrope",
      "video_token_id",
      "vision_end_token_id",
      "vision_start_token_id",
      "vision_token_id",
      "z_loss_coefficient",
  };
  return fields;
}

}  // namespace drydock
