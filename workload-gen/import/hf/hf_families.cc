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
Fields Window() { return {"sliding_window", "layer_types"}; }
Fields QwenWindow() {
  return {"sliding_window", "layer_types", "use_sliding_window", "max_window_layers"};
}
Fields QwenExperts() {
  return {"num_experts", "num_experts_per_tok", "moe_intermediate_size", "decoder_sparse_step",
          "mlp_only_layers"};
}
Fields DeepSeek() {
  Fields fields = Join(
      {Decoder(),
       {"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim",
        "n_routed_experts", "num_experts_per_tok", "n_shared_experts", "moe_intermediate_size",
        "first_k_dense_replace", "moe_layer_freq", "topk_method", "num_nextn_predict_layers"}});
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
  list.push_back({"deepseek_v32",
                  true,
                  {},
                  LlamaLike({{"router_bias", "true"}}),
                  Join({DeepSeek(), {"index_topk", "index_n_heads", "index_head_dim"}}),
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
  const Fields gemma3 = Join({Decoder(), Window(), {"sliding_window_pattern"}});
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
                        {"hybrid_override_pattern", "mamba_num_heads", "mamba_head_dim",
                         "ssm_state_size", "n_groups", "attention_head_dim", "mlp_hidden_act",
                         "n_routed_experts", "num_experts_per_tok", "n_shared_experts",
                         "moe_intermediate_size", "moe_shared_expert_intermediate_size",
                         "moe_latent_size", "num_nextn_predict_layers", "conv_kernel"}}),
                  {"attention_bias", "mlp_bias", "use_bias", "mamba_proj_bias"}});
  list.push_back({"qwen3_next",
                  true,
                  {},
                  LlamaLike({{"qk_norm", "true"},
                             {"attention_gate", "true"},
                             {"shared_expert_gate", "true"},
                             {"head_dim", "256"},
                             {"kv_heads", "2"},
                             {"delta_attention_every", "4"},
                             {"delta_key_heads", "16"},
                             {"delta_value_heads", "32"}}),
                  Join({Decoder(),
                        QwenExperts(),
                        {"shared_expert_intermediate_size", "full_attention_interval",
                         "linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim",
                         "linear_value_head_dim", "linear_conv_kernel_dim"}}),
                  {"attention_bias"}});
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
       Join({Decoder(), Window(), {"num_local_experts", "num_experts_per_tok", "attention_bias"}}),
       {},
       /*own_activation=*/true});
  list.push_back({"bert",
                  false,
                  {},
                  {{"architecture", "gpt"}, {"causal", "false"}},
                  Join({encoder, {"vocab_size", "max_position_embeddings"}}),
                  {"is_decoder", "add_cross_attention"}});
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
      {"max_position_embeddings", "sequence"},
      {"tie_word_embeddings", "tied_embedding"},
      {"attention_bias", "qkv_bias"},
      {"qkv_bias", "qkv_bias"},
      {"resid_pdrop", "dropout"},
      {"hidden_dropout_prob", "dropout"},
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
      {"attn_logit_softcapping", "a bound of attention scores, inside the kernel"},
      {"final_logit_softcapping", "kernels that bound the logits"},
      {"n_group", "a choice of expert groups in the router kernels"},
      {"reorder_and_upcast_attn", "attention in fp32"},
      {"topk_group", "a choice of expert groups in the router kernels"},
  };
  return fields;
}

const std::set<std::string>& HfHarmless() {
  static const std::set<std::string> fields = {"_name_or_path",
                                               "_attn_implementation",
                                               "attn_implementation",
                                               "auto_map",
                                               "aux_loss_alpha",
                                               "begin_suppress_tokens",
                                               "bos_token_id",
                                               "cache_implementation",
                                               "cls_token_id",
                                               "classifier_dropout",
                                               "decoder_start_token_id",
                                               "dtype",
                                               "embd_pdrop",
                                               "encoder_stride",
                                               "eos_token_id",
                                               "ep_size",
                                               "expand",
                                               "experts_per_token",
                                               "chunk_size",
                                               "mamba_hidden_act",
                                               "mamba_ssm_cache_dtype",
                                               "num_logits_to_keep",
                                               "rescale_prenorm_residual",
                                               "residual_in_fp32",
                                               "swiglu_limit",
                                               "time_step_floor",
                                               "time_step_limit",
                                               "time_step_max",
                                               "time_step_min",
                                               "time_step_rank",
                                               "use_conv_bias",
                                               "use_mamba_kernels",
                                               "initial_context_length",
                                               "finetuning_task",
                                               "gradient_checkpointing",
                                               "id2label",
                                               "initializer_range",
                                               "label2id",
                                               "label_smoothing",
                                               "layer_norm_eps",
                                               "layer_norm_epsilon",
                                               "max_position_embeddings",
                                               "n_ctx",
                                               "n_positions",
                                               "norm_eps",
                                               "norm_topk_prob",
                                               "num_beams",
                                               "num_beam_groups",
                                               "num_return_sequences",
                                               "no_repeat_ngram_size",
                                               "encoder_no_repeat_ngram_size",
                                               "num_labels",
                                               "output_attentions",
                                               "output_hidden_states",
                                               "output_router_logits",
                                               "pad_token_id",
                                               "partial_rotary_factor",
                                               "pooler_act",
                                               "pooler_output_size",
                                               "position_embedding_type",
                                               "pretraining_tp",
                                               "problem_type",
                                               "quantization_config",
                                               "query_pre_attn_scalar",
                                               "return_dict",
                                               "rms_norm_eps",
                                               "rope_interleave",
                                               "rope_local_base_freq",
                                               "rope_parameters",
                                               "rope_scaling",
                                               "rope_theta",
                                               "routed_scaling_factor",
                                               "router_aux_loss_coef",
                                               "router_jitter_noise",
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
                                               "task_specific_params",
                                               "tokenizer_class",
                                               "torch_dtype",
                                               "transformers_version",
                                               "type_vocab_size",
                                               "unk_token_id",
                                               "use_bfloat16",
                                               "use_bidirectional_attention",
                                               "use_cache",
                                               "use_mla"};
  return fields;
}

}  // namespace drydock
