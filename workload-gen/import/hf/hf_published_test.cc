// The parameters of models as their makers publish them, against the model that is made of the
// fields of their config.json. A count is the number of elements that the safetensors files of the
// model's page on Hugging Face declare, unless the row says something else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/spelling.h"
#include "workload-gen/import/hf/hf_config.h"
#include "workload-gen/job/job_reader.h"
#include "workload-gen/work/model_size.h"

namespace drydock {
namespace {

struct Published {
  const char* name;
  std::string config;
  int64_t count;
  // Elements of the files that are of no layer of the text model, such as a tower of images.
  int64_t others = 0;
  const char* more = "";  // keys of model.yaml that the file does not have
};

// The fields of a decoder: layers, hidden, heads, kv heads, head width, MLP, vocabulary.
std::string Fields(const std::string& type, int layers, int hidden, int heads, int kv_heads,
                   int head_dim, int ffn, int vocab, bool tied, const std::string& more = "") {
  return fmt::format(
      R"({{"model_type": "{}", "num_hidden_layers": {}, "hidden_size": {},
      "num_attention_heads": {}, "num_key_value_heads": {}, "head_dim": {},
      "intermediate_size": {}, "vocab_size": {}, "tie_word_embeddings": {},
      "attention_dropout": 0.0, "initializer_range": 0.02, "torch_dtype": "bfloat16"{}{}}})",
      type, layers, hidden, heads, kv_heads, head_dim, ffn, vocab, tied,
      type == "nemotron_h" ? "" : R"(, "hidden_act": "silu")", more);
}

std::string Latent(int q_rank, int nope, int value) {
  return fmt::format(R"(, "q_lora_rank": {}, "kv_lora_rank": 512, "qk_nope_head_dim": {},
      "qk_rope_head_dim": 64, "v_head_dim": {})",
                     q_rank, nope, value);
}

std::string Experts(int dense, int experts, int width) {
  return fmt::format(R"(, "first_k_dense_replace": {}, "n_routed_experts": {},
      "num_experts_per_tok": 8, "n_shared_experts": 1, "moe_intermediate_size": {},
      "n_group": 1, "topk_group": 1, "routed_scaling_factor": 2.5, "norm_topk_prob": true)",
                     dense, experts, width);
}

std::string MambaOf(int heads, int width) {
  return fmt::format(R"(, "mamba_num_heads": {}, "mamba_head_dim": {}, "ssm_state_size": 128,
      "n_groups": 8, "conv_kernel": 4, "mlp_hidden_act": "relu2", "use_bias": false)",
                     heads, width);
}

std::string GraniteLayers() {
  std::string list;
  for (int layer = 0; layer < 40; ++layer) {
    list +=
        fmt::format("{}\"{}\"", layer == 0 ? "" : ", ", layer % 10 == 5 ? "attention" : "mamba");
  }
  return "[" + list + "]";
}

std::string Granite(int heads, int experts, int per_token, int shared) {
  return fmt::format(R"(, "mamba_n_heads": {}, "mamba_d_head": 64, "mamba_d_state": 128,
      "mamba_n_groups": 1, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_chunk_size": 256,
      "num_local_experts": {}, "num_experts_per_tok": {}, "shared_intermediate_size": {},
      "position_embedding_type": "nope", "embedding_multiplier": 12, "layer_types": {})",
                     heads, experts, per_token, shared, GraniteLayers());
}

std::string DeltaFields(int value_heads) {
  return fmt::format(R"(, "full_attention_interval": 4, "linear_num_key_heads": 16,
      "linear_num_value_heads": {}, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
      "linear_conv_kernel_dim": 4)",
                     value_heads);
}

// The blocks of Llama-3.3-Nemotron-Super-49B-v1, as (number, has attention, ffn_mult): the order
// does not matter for the count.
std::string NasBlocks() {
  const std::tuple<int, bool, const char*> kinds[] = {
      {48, true, "5.25"}, {1, true, "2.625"},  {10, false, "1.3125"}, {8, false, "1.0"},
      {6, false, "0.5"},  {5, false, "2.625"}, {1, false, "3.28125"}, {1, false, "5.25"}};
  std::string list;
  for (const auto& [count, attends, factor] : kinds) {
    for (int i = 0; i < count; ++i) {
      list += fmt::format(
          R"({}{{"attention": {{"n_heads_in_group": {}, "no_op": {}, "replace_with_linear": false}},
          "ffn": {{"ffn_mult": {}, "no_op": false, "replace_with_linear": false}}}})",
          list.empty() ? "" : ", ", attends ? "8" : "null", !attends, factor);
    }
  }
  return "[" + list + "]";
}

std::vector<Published> Rows() {
  const int64_t llama4_images = 871'932'416;  // alike in Scout and Maverick
  // SigLIP, and the projector, whose weight is 1152 x hidden.
  const auto gemma3_images = [](int64_t hidden) { return 416'866'032 + 1152 * hidden + 1152; };
  return {
      {"Llama-3.1-8B", Fields("llama", 32, 4096, 32, 8, 128, 14336, 128256, false), 8030261248},
      {"Llama-3.2-3B", Fields("llama", 28, 3072, 24, 8, 128, 8192, 128256, true), 3212749824},
      {"Mistral-Nemo-12B",
       Fields("mistral", 40, 5120, 32, 8, 128, 14336, 131072, false, R"(, "sliding_window": null)"),
       12247782400},
      {"Qwen2.5-72B", Fields("qwen2", 80, 8192, 64, 8, 128, 29568, 152064, false), 72706203648},
      {"Qwen3-32B", Fields("qwen3", 64, 5120, 64, 8, 128, 25600, 151936, false), 32762123264},
      {"Qwen3-30B-A3B",
       Fields("qwen3_moe", 48, 2048, 32, 4, 128, 6144, 151936, false,
              R"(, "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768)"),
       30532122624},
      // The text part is that of Qwen3-30B-A3B.
      {"Qwen3-VL-30B-A3B, text",
       R"({"model_type": "qwen3_vl_moe", "tie_word_embeddings": false, "vision_config": {},
        "text_config": )" +
           Fields("qwen3_vl_moe_text", 48, 2048, 32, 4, 128, 6144, 151936, false,
                  R"(, "num_experts": 128, "num_experts_per_tok": 8,
                  "moe_intermediate_size": 768, "decoder_sparse_step": 1, "mlp_only_layers": [])") +
           "}",
       30532122624},
      // Qwen3-1.7B's, whose head is tied, at the root.
      {"Qwen3-VL-2B, text",
       R"({"model_type": "qwen3_vl", "tie_word_embeddings": true, "text_config":
        {"model_type": "qwen3_vl_text", "num_hidden_layers": 28, "hidden_size": 2048,
        "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
        "intermediate_size": 6144, "vocab_size": 151936}})",
       1720574976},
      {"Qwen3-Next-80B-A3B",
       Fields("qwen3_next", 48, 2048, 16, 2, 256, 5120, 151936, false,
              DeltaFields(32) + R"(, "num_experts": 512, "num_experts_per_tok": 10,
              "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512)"),
       81324862720, 0, "mtp_layers: 1"},
      // With a tower of 460,730,096 parameters, from the shape in vision_config.
      {"Qwen3.5-27B",
       R"({"model_type": "qwen3_5", "vision_config": {"depth": 27}, "text_config": )" +
           Fields("qwen3_5_text", 64, 5120, 24, 4, 256, 17408, 248320, false,
                  DeltaFields(48) + R"(, "attn_output_gate": true, "mtp_num_hidden_layers": 1,
                  "mtp_use_dedicated_embeddings": false, "mlp_only_layers": [])") +
           "}",
       27781427952, 460'730'096},
      {"gpt-oss-20b",
       Fields("gpt_oss", 24, 2880, 64, 8, 64, 2880, 201088, false,
              R"(, "attention_bias": true, "num_local_experts": 32, "num_experts_per_tok": 4,
              "sliding_window": 128, "swiglu_limit": 7.0)"),
       20914757184},
      {"gpt-oss-120b",
       Fields("gpt_oss", 36, 2880, 64, 8, 64, 2880, 201088, false,
              R"(, "attention_bias": true, "num_local_experts": 128, "num_experts_per_tok": 4,
              "sliding_window": 128, "swiglu_limit": 7.0)"),
       116829156672},
      {"Kimi-K2",
       Fields("kimi_k2", 61, 7168, 64, 64, 112, 18432, 163840, false,
              Latent(1536, 128, 128) + Experts(1, 384, 2048) + R"(, "topk_method": "noaux_tc")"),
       1026408232448},
      // The files have copies of embedding and head for the layer of multi-token prediction.
      {"GLM-4.5",
       Fields(
           "glm4_moe", 92, 5120, 96, 8, 128, 12288, 151552, false,
           Experts(3, 160, 1536) +
               R"(, "attention_bias": true, "use_qk_norm": true, "num_nextn_predict_layers": 1)"),
       358337791296, int64_t{2} * 151552 * 5120},
      {"GLM-4.5-Air",
       Fields(
           "glm4_moe", 46, 4096, 96, 8, 128, 10944, 151552, false,
           Experts(1, 128, 1408) +
               R"(, "attention_bias": true, "use_qk_norm": false, "num_nextn_predict_layers": 1)"),
       110468824832, int64_t{2} * 151552 * 4096},
      {"GLM-5",
       Fields("glm_moe_dsa", 78, 6144, 64, 64, 64, 12288, 154880, false,
              Latent(2048, 192, 256) + Experts(3, 256, 2048) +
                  R"(, "index_topk": 2048, "index_n_heads": 32, "index_head_dim": 128,
                  "num_nextn_predict_layers": 1, "qk_head_dim": 256)"),
       753864139008},
      {"Gemma-2-9B",
       Fields("gemma2", 42, 3584, 16, 8, 256, 14336, 256000, true,
              R"(, "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 4096,
              "sliding_window_size": 4096)"),
       9241705984},
      {"Gemma-3-4B", R"({"model_type": "gemma3", "vision_config": {}, "text_config":
        {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
        "num_hidden_layers": 34, "sliding_window": 1024}})",
       4300079472, gemma3_images(2560)},
      {"Gemma-3-27B", R"({"model_type": "gemma3", "vision_config": {}, "text_config":
        {"model_type": "gemma3_text", "hidden_size": 5376, "intermediate_size": 21504,
        "num_hidden_layers": 62, "num_attention_heads": 32, "num_key_value_heads": 16,
        "head_dim": 128, "sliding_window": 1024}})",
       27432406640, gemma3_images(5376)},
      {"Phi-3-mini-4k",
       Fields("phi3", 32, 3072, 32, 32, 96, 8192, 32064, false,
              R"(, "sliding_window": 2047, "resid_pdrop": 0.0, "embd_pdrop": 0.0)"),
       3821079552},
      {"Phi-4",
       Fields("phi3", 40, 5120, 40, 10, 128, 17920, 100352, false, R"(, "sliding_window": null)"),
       14659507200},
      {"Phi-4-mini",
       Fields("phi3", 32, 3072, 24, 8, 128, 8192, 200064, true,
              R"(, "sliding_window": 262144, "lm_head_bias": false, "full_attn_mod": 1)"),
       3836021760},
      {"OLMo-2-7B", Fields("olmo2", 32, 4096, 32, 32, 128, 11008, 100352, false), 7298617344},
      {"OLMo-2-32B", Fields("olmo2", 64, 5120, 40, 8, 128, 27648, 100352, false), 32234279936},
      {"OLMoE-1B-7B",
       Fields("olmoe", 16, 2048, 16, 16, 128, 1024, 50304, false,
              R"(, "num_experts": 64, "num_experts_per_tok": 8, "clip_qkv": null)"),
       6919161856},
      {"Llama-4-Scout",
       R"({"model_type": "llama4", "vision_config": {}, "text_config": )" +
           Fields("llama4_text", 48, 5120, 40, 8, 128, 8192, 202048, false,
                  R"(, "intermediate_size_mlp": 16384, "interleave_moe_layer_step": 1,
                  "num_local_experts": 16, "num_experts_per_tok": 1, "use_qk_norm": true,
                  "attention_chunk_size": 8192)") +
           "}",
       108641793536, llama4_images},
      {"Llama-4-Maverick",
       R"({"model_type": "llama4", "vision_config": {}, "text_config": )" +
           Fields("llama4_text", 48, 5120, 40, 8, 128, 8192, 202048, false,
                  R"(, "intermediate_size_mlp": 16384, "interleave_moe_layer_step": 2,
                  "num_local_experts": 128, "num_experts_per_tok": 1, "use_qk_norm": false,
                  "attention_chunk_size": 8192)") +
           "}",
       401583781376, llama4_images},
      {"SmolLM3-3B",
       Fields("smollm3", 36, 2048, 16, 4, 128, 11008, 128256, true,
              R"(, "no_rope_layer_interval": 4, "use_sliding_window": false)"),
       3075098624},
      // The files have a scale for each 128 x 128 of the weights in fp8, and no layers of
      // multi-token prediction.
      {"MiniMax-M2",
       Fields("minimax_m2", 62, 3072, 48, 8, 128, 1536, 200064, false,
              R"(, "num_local_experts": 256, "num_experts_per_tok": 8, "use_qk_norm": true,
              "qk_norm_type": "per_layer", "use_routing_bias": true, "use_mtp": false,
              "num_mtp_modules": 3, "shared_intermediate_size": 0)"),
       228703644928, 62 * (256 * 3 * 24 * 12 + (6144 + 2 * 1024 + 6144) / 128 * 24)},
      {"MiMo-7B",
       Fields("mimo", 36, 4096, 32, 8, 128, 11008, 151680, false,
              R"(, "attention_bias": true, "num_nextn_predict_layers": 1,
              "use_sliding_window": false)"),
       7833409536},
      {"Nemotron-3-Nano-30B-A3B",
       Fields("nemotron_h", 52, 2688, 32, 2, 128, 1856, 131072, false,
              MambaOf(64, 64) +
                  R"(, "hybrid_override_pattern":
                  "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
                  "n_routed_experts": 128, "num_experts_per_tok": 6, "n_shared_experts": 1,
                  "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712)"),
       31577940288},
      {"Nemotron-Nano-9B-v2",
       Fields("nemotron_h", 56, 4480, 40, 8, 128, 15680, 131072, false,
              MambaOf(128, 80) + R"(, "hybrid_override_pattern":
              "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-")"),
       8888227328},
      {"Llama-3.3-Nemotron-Super-49B",
       R"({"model_type": "nemotron-nas", "num_hidden_layers": 80, "hidden_size": 8192,
        "num_attention_heads": 64, "num_key_value_heads": null, "intermediate_size": null,
        "vocab_size": 128256, "hidden_act": "silu", "tie_word_embeddings": false,
        "block_configs": )" +
           NasBlocks() + "}",
       49867145216},
      {"Granite-4.0-H-Small",
       Fields("granitemoehybrid", 40, 4096, 32, 8, 128, 768, 100352, true,
              Granite(128, 72, 10, 1536)),
       32207337984},
      {"Granite-4.0-H-Micro",
       Fields("granitemoehybrid", 40, 2048, 32, 8, 64, 8192, 100352, true, Granite(64, 0, 0, 8192)),
       3191396096},
      {"Mamba-Codestral-7B-v0.1",
       R"({"model_type": "mamba2", "num_hidden_layers": 64, "hidden_size": 4096,
        "intermediate_size": 8192, "num_heads": 128, "head_dim": 64, "state_size": 128,
        "n_groups": 8, "conv_kernel": 4, "expand": 2, "chunk_size": 256, "hidden_act": "silu",
        "norm_before_gate": true, "rms_norm": true, "residual_in_fp32": true, "use_bias": false,
        "use_conv_bias": true, "time_step_rank": 256, "vocab_size": 32768,
        "tie_word_embeddings": false, "torch_dtype": "bfloat16"})",
       7285403648},
      {"mamba2-130m",
       R"({"model_type": "mamba2", "num_hidden_layers": 24, "hidden_size": 768, "num_heads": 24,
        "head_dim": 64, "state_size": 128, "n_groups": 1, "conv_kernel": 4, "expand": 2,
        "residual_in_fp32": true, "vocab_size": 50288, "tie_word_embeddings": true})",
       128989632},
      // 9.78 billion (IBM, Bamba: Inference-Efficient Hybrid Mamba2 Model, December 2024).
      {"Bamba-9B",
       Fields("bamba", 32, 4096, 32, 8, 128, 14336, 128256, false,
              R"(, "attn_layer_indices": [9, 18, 27], "mamba_n_heads": 128, "mamba_d_head": 64,
              "mamba_d_state": 128, "mamba_n_groups": 1, "mamba_d_conv": 4, "mamba_expand": 2)"),
       9780235392},
  };
}

TEST(HfPublished, ParametersAreThoseOfTheModel) {
  for (const Published& row : Rows()) {
    ImportNotes notes;
    Result<YamlNode> model = ModelFromHfConfig(row.config, "config.json", /*strict=*/false, &notes);
    ASSERT_TRUE(model.ok()) << row.name << ": " << model.error().ToString();
    const Result<YamlNode> more =
        ParseYaml("{sequence: 4096" + std::string(*row.more == '\0' ? "" : ", ") + row.more + "}",
                  "model.yaml");
    ASSERT_TRUE(more.ok()) << row.name;
    for (const auto& [key, value] : more->entries) model->entries.emplace_back(key, value);
    Diagnostics diagnostics;
    TrainingJob job;
    ReadSection(Sections().front(), *model, &diagnostics, &job);
    ASSERT_TRUE(diagnostics.ok()) << row.name << ": " << diagnostics.ToStatus().error().ToString();
    EXPECT_EQ(ParameterCount(job.model), row.count - row.others) << row.name;
    EXPECT_TRUE(notes.unknown.empty()) << row.name << ": " << Join(notes.unknown);
  }
}

}  // namespace
}  // namespace drydock
