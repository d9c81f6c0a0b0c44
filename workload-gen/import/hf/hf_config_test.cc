#include "workload-gen/import/hf/hf_config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/spelling.h"
#include "workload-gen/job/job_reader.h"
#include "workload-gen/work/model_size.h"

namespace drydock {
namespace {

Result<ModelShape> Read(const std::string& config, const std::string& more = "sequence: 4096",
                        bool strict = false, ImportNotes* notes = nullptr) {
  ImportNotes ignored;
  ASSIGN_OR_RETURN(YamlNode model,
                   ModelFromHfConfig(config, "config.json", strict, notes ? notes : &ignored));
  ASSIGN_OR_RETURN(const YamlNode own, ParseYaml(more, "model.yaml"));
  for (const auto& [key, value] : own.entries) model.entries.emplace_back(key, value);
  Diagnostics diagnostics;
  TrainingJob job;
  ReadSection(Sections().front(), model, &diagnostics, &job);
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return job.model;
}

ModelShape Shape(const std::string& config, const std::string& more = "sequence: 4096") {
  const Result<ModelShape> shape = Read(config, more);
  EXPECT_TRUE(shape.ok()) << shape.error().ToString();
  return shape.ok() ? *shape : ModelShape();
}

std::string ErrorOf(const std::string& config, bool strict = false) {
  const Result<ModelShape> shape = Read(config, "sequence: 4096", strict);
  return shape.ok() ? "" : shape.error().ToString();
}

// A decoder's fields: layers, hidden, heads, key heads, width, vocabulary, and `more`.
std::string Decoder(const std::string& type, int layers, int hidden, int heads, int kv, int ffn,
                    int vocab, const std::string& more = "") {
  return R"({"model_type": ")" + type + R"(", "num_hidden_layers": )" + std::to_string(layers) +
         R"(, "hidden_size": )" + std::to_string(hidden) + R"(, "num_attention_heads": )" +
         std::to_string(heads) + R"(, "num_key_value_heads": )" + std::to_string(kv) +
         R"(, "intermediate_size": )" + std::to_string(ffn) + R"(, "vocab_size": )" +
         std::to_string(vocab) + R"(, "torch_dtype": "bfloat16", "rms_norm_eps": 1e-05)" + more +
         "}";
}

TEST(HfConfig, Gpt2) {
  const ModelShape m = Shape(R"({
  "activation_function": "gelu_new",
  "architectures": ["GPT2LMHeadModel"],
  "attn_pdrop": 0.1,
  "model_type": "gpt2",
  "n_ctx": 1024,
  "n_embd": 768,
  "n_head": 12,
  "n_inner": null,
  "n_layer": 12,
  "n_positions": 1024,
  "resid_pdrop": 0.1,
  "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}},
  "vocab_size": 50257
})",
                             "{}");
  // With 1024 positions; the Megatron family's 125M has 2048.
  EXPECT_EQ(ParameterCount(m), 125226240 - 1024 * 768);
  EXPECT_EQ(m.sequence, 1024);
  EXPECT_EQ(m.dropout, 0.1);
}

TEST(HfConfig, Llamas) {
  const char* act = R"(, "hidden_act": "silu", "tie_word_embeddings": false)";
  EXPECT_EQ(ParameterCount(Shape(Decoder("llama", 32, 4096, 32, 32, 11008, 32000, act))),
            6738415616);
  EXPECT_EQ(ParameterCount(Shape(Decoder("llama", 80, 8192, 64, 8, 28672, 32000, act))),
            68976648192);
  EXPECT_EQ(ParameterCount(Shape(Decoder("llama", 126, 16384, 128, 8, 53248, 128256,
                                         R"(, "attention_bias": false, "mlp_bias": false,
      "rope_scaling": {"factor": 8.0, "rope_type": "llama3"}, "max_position_embeddings": 131072)"))),
            405853388800);
  EXPECT_EQ(ParameterCount(Shape(Decoder("llama", 16, 2048, 32, 8, 8192, 128256,
                                         R"(, "head_dim": 64, "tie_word_embeddings": true)"))),
            1235814400);
}

TEST(HfConfig, MistralAndMixtral) {
  const ModelShape mistral =
      Shape(Decoder("mistral", 32, 4096, 32, 8, 14336, 32000, R"(, "sliding_window": 4096)"));
  EXPECT_EQ(ParameterCount(mistral), 7241732096);
  EXPECT_EQ(mistral.attention.window, 4096);
  EXPECT_TRUE(mistral.attention.HasWindow(0) && mistral.attention.HasWindow(31));
  EXPECT_EQ(Shape(Decoder("mistral", 32, 4096, 32, 8, 14336, 32768, R"(, "sliding_window": null)"))
                .attention.window,
            0);
  const char* experts = R"(, "num_local_experts": 8, "num_experts_per_tok": 2,
      "router_aux_loss_coef": 0.02, "sliding_window": null)";
  EXPECT_EQ(ParameterCount(Shape(Decoder("mixtral", 32, 4096, 32, 8, 14336, 32000, experts))),
            46702792704);
  EXPECT_EQ(ParameterCount(Shape(Decoder("mixtral", 56, 6144, 48, 8, 16384, 32768, experts))),
            140630071296);
}

TEST(HfConfig, Qwens) {
  const char* window = R"(, "use_sliding_window": false, "sliding_window": 131072,
      "max_window_layers": 28)";
  const ModelShape qwen2 = Shape(Decoder("qwen2", 28, 3584, 28, 4, 18944, 152064, window));
  EXPECT_EQ(ParameterCount(qwen2), 7615616512);
  EXPECT_EQ(qwen2.attention.window, 0);
  EXPECT_EQ(ParameterCount(Shape(Decoder("qwen2", 80, 8192, 64, 8, 29568, 152064))), 72706203648);
  EXPECT_EQ(ParameterCount(Shape(Decoder("qwen3", 36, 4096, 32, 8, 12288, 151936,
                                         R"(, "head_dim": 128, "attention_bias": false)"))),
            8190735360);
  EXPECT_EQ(ParameterCount(Shape(Decoder("qwen3", 64, 5120, 64, 8, 25600, 151936))), 32762123264)
      << "head_dim defaults to 128";
  const auto experts = [](int width) {
    return R"(, "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8,
        "decoder_sparse_step": 1, "mlp_only_layers": [], "moe_intermediate_size": )" +
           std::to_string(width);
  };
  EXPECT_EQ(
      ParameterCount(Shape(Decoder("qwen3_moe", 48, 2048, 32, 4, 6144, 151936, experts(768)))),
      30532122624);
  EXPECT_EQ(
      ParameterCount(Shape(Decoder("qwen3_moe", 94, 4096, 64, 4, 12288, 151936, experts(1536)))),
      235093634560);
  // Qwen1.5-MoE-A2.7B: 14.3 billion.
  EXPECT_EQ(ParameterCount(Shape(Decoder("qwen2_moe", 24, 2048, 16, 16, 5632, 151936,
                                         R"(, "num_experts": 60, "num_experts_per_tok": 4,
      "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632)"))),
            14315784192);
}

std::string DeepSeek(const std::string& type, int layers, int hidden, int heads, int ffn, int vocab,
                     const std::string& q_rank, int dense, int experts, int per_token, int shared,
                     int width, const std::string& more) {
  return Decoder(type, layers, hidden, heads, heads, ffn, vocab,
                 R"(, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
                 "v_head_dim": 128, "q_lora_rank": )" +
                     q_rank + R"(, "first_k_dense_replace": )" + std::to_string(dense) +
                     R"(, "n_routed_experts": )" + std::to_string(experts) +
                     R"(, "num_experts_per_tok": )" + std::to_string(per_token) +
                     R"(, "n_shared_experts": )" + std::to_string(shared) +
                     R"(, "moe_intermediate_size": )" + std::to_string(width) +
                     R"(, "moe_layer_freq": 1, "hidden_act": "silu")" + more);
}

TEST(HfConfig, DeepSeeks) {
  EXPECT_EQ(ParameterCount(Shape(DeepSeek("deepseek_v2", 27, 2048, 16, 10944, 102400, "null", 1, 64,
                                          6, 2, 1408, R"(, "topk_method": "greedy")"))),
            15706484224);
  EXPECT_EQ(ParameterCount(Shape(DeepSeek("deepseek_v2", 60, 5120, 128, 12288, 102400, "1536", 1,
                                          160, 6, 2, 1536, R"(, "n_group": 8, "topk_group": 3)"))),
            235741434880);
  const std::string third = DeepSeek("deepseek_v3", 61, 7168, 128, 18432, 129280, "1536", 3, 256, 8,
                                     1, 2048, R"(, "topk_method": "noaux_tc",
      "quantization_config": {"fmt": "e4m3", "weight_block_size": [128, 128]})");
  const ModelShape v3 = Shape(third);
  EXPECT_EQ(ParameterCount(v3), 671026419200);
  EXPECT_TRUE(v3.moe.router_bias && v3.attention.is_latent());
  EXPECT_EQ(v3.moe.first_dense_layers, 3);
}

// The indexer of each of 61 layers has 1536 x 8192 + 7168 x (128 + 64) + 2 x 128 parameters more.
TEST(HfConfig, DeepSeekWithSparseAttention) {
  const ModelShape m =
      Shape(DeepSeek("deepseek_v32", 61, 7168, 128, 18432, 129280, "1536", 3, 256, 8, 1, 2048,
                     R"(, "index_topk": 2048, "index_n_heads": 64, "index_head_dim": 128)"));
  EXPECT_EQ(m.attention.sparse.top_k, 2048);
  EXPECT_EQ(m.attention.sparse.heads, 64);
  EXPECT_EQ(m.attention.sparse.head_dim, 128);
  EXPECT_EQ(m.attention.sparse.loss, IndexLoss::kSparse);
  EXPECT_EQ(ParameterCount(m), 671026419200 + 61 * (1536 * 8192 + 7168 * (128 + 64) + 2 * 128));
}

TEST(HfConfig, NemotronH) {
  const std::string nano = Decoder("nemotron_h", 52, 2688, 32, 2, 1856, 131072,
                                   R"(, "head_dim": 128, "mlp_hidden_act": "relu2",
      "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
      "mamba_num_heads": 64, "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8,
      "conv_kernel": 4, "chunk_size": 128, "expand": 2, "n_routed_experts": 128,
      "num_experts_per_tok": 6, "n_shared_experts": 1, "moe_intermediate_size": 1856,
      "moe_shared_expert_intermediate_size": 3712, "n_group": 1, "topk_group": 1)");
  const ModelShape m = Shape(nano);
  EXPECT_EQ(m.mlp.activation, Activation::kSquaredRelu);
  EXPECT_EQ(m.embedding.positions, Positions::kNone);
  EXPECT_EQ(m.moe.shared_ffn, 3712);
  EXPECT_EQ(m.expert_layers(), 23);
  EXPECT_NEAR(static_cast<double>(ParameterCount(m)), 31.6e9, 0.1e9);
}

TEST(HfConfig, Qwen3Next) {
  const ModelShape m = Shape(Decoder("qwen3_next", 48, 2048, 16, 2, 5120, 151936,
                                     R"(, "head_dim": 256, "hidden_act": "silu",
      "num_experts": 512, "num_experts_per_tok": 10, "moe_intermediate_size": 512,
      "shared_expert_intermediate_size": 512, "full_attention_interval": 4,
      "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_key_head_dim": 128,
      "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4)"));
  EXPECT_EQ(m.PartsOf(2).mixer, Mixer::kDeltaNet);
  EXPECT_EQ(m.PartsOf(3).mixer, Mixer::kAttention);
  EXPECT_NEAR(static_cast<double>(ParameterCount(m)), 79.7e9, 0.3e9);
}

TEST(HfConfig, GptOss) {
  const ModelShape m = Shape(Decoder("gpt_oss", 24, 2880, 64, 8, 2880, 201088,
                                     R"(, "head_dim": 64, "hidden_act": "silu",
      "attention_bias": true, "num_local_experts": 32, "num_experts_per_tok": 4,
      "experts_per_token": 4, "sliding_window": 128, "swiglu_limit": 7.0)"));
  EXPECT_EQ(ParameterCount(m), 20914757184);
  EXPECT_TRUE(m.attention.sinks && m.PartsOf(0).window);
  EXPECT_EQ(m.embedding.positions, Positions::kYarn);
  EXPECT_EQ(m.mlp.activation, Activation::kGeglu);
  EXPECT_FALSE(m.PartsOf(1).window);
}

TEST(HfConfig, Gemmas) {
  const ModelShape first = Shape(Decoder("gemma", 28, 3072, 16, 16, 24576, 256000,
                                         R"(, "head_dim": 256, "hidden_act": "gelu",
      "hidden_activation": "gelu_pytorch_tanh")"));
  EXPECT_EQ(ParameterCount(first), 8537680896);
  EXPECT_EQ(first.mlp.activation, Activation::kGeglu);
  const ModelShape second = Shape(Decoder("gemma2", 26, 2304, 8, 4, 9216, 256000,
                                          R"(, "head_dim": 256, "sliding_window": 4096,
      "attn_logit_softcapping": 50.0, "query_pre_attn_scalar": 256)"));
  EXPECT_EQ(ParameterCount(second), 2614341888);
  EXPECT_TRUE(second.attention.HasWindow(0));
  EXPECT_FALSE(second.attention.HasWindow(1));
  const std::string text = Decoder("gemma3_text", 26, 1152, 4, 1, 6912, 262144,
                                   R"(, "head_dim": 256, "sliding_window": 512,
      "sliding_window_pattern": 6)");
  const ModelShape third = Shape(text);
  EXPECT_EQ(ParameterCount(third), 999885952);
  EXPECT_TRUE(third.attention.qk_norm && third.post_norms && third.attention.HasWindow(4));
  EXPECT_FALSE(third.attention.HasWindow(5));
  ImportNotes notes;
  const Result<ModelShape> inside =
      Read(R"({"model_type": "gemma3", "vision_config": {}, "text_config": )" + text + "}",
           "sequence: 4096", false, &notes);
  ASSERT_TRUE(inside.ok()) << inside.error().ToString();
  EXPECT_EQ(ParameterCount(*inside), 999885952);
  EXPECT_EQ(notes.remarks.size(), 1u);
}

// The file of the 4B model relies on defaults of transformers. Gemma 3's report, table 1: 675
// million parameters of embedding and 3209 million others, without the vision encoder.
TEST(HfConfig, UsesTheDefaultsOfTransformers) {
  const ModelShape m = Shape(R"({"model_type": "gemma3", "text_config": {
      "model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
      "num_hidden_layers": 34, "rope_scaling": {"factor": 8.0}, "sliding_window": 1024}})");
  EXPECT_EQ(m.attention.heads, 8);
  EXPECT_EQ(m.attention.kv_heads, 4);
  EXPECT_NEAR(static_cast<double>(ParameterCount(m)), 3884e6, 5e6);
}

// Nemotron-4 15B: 15.6 billion parameters (its report, section 2).
TEST(HfConfig, Nemotron) {
  const ModelShape m = Shape(Decoder("nemotron", 32, 6144, 48, 8, 24576, 256000,
                                     R"(, "hidden_act": "relu2", "partial_rotary_factor": 0.5,
      "head_dim": 128, "tie_word_embeddings": false)"));
  EXPECT_EQ(m.mlp.activation, Activation::kSquaredRelu);
  EXPECT_FALSE(m.rms_norm || m.bias || m.mlp.gated() || m.embedding.tied);
  EXPECT_NEAR(static_cast<double>(ParameterCount(m)), 15.6e9, 0.05e9);
}

TEST(HfConfig, Encoders) {
  const ModelShape vit = Shape(R"({"model_type": "vit", "num_hidden_layers": 12,
      "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072,
      "hidden_act": "gelu", "image_size": 224, "patch_size": 16, "num_channels": 3,
      "qkv_bias": true, "hidden_dropout_prob": 0.0, "num_labels": 1000, "layer_norm_eps": 1e-12})",
                               "{}");
  EXPECT_EQ(ParameterCount(vit), 86567656);
  EXPECT_EQ(vit.sequence, 197);
  EXPECT_FALSE(vit.attention.causal);
  // BERT base has 109,482,240 parameters, with pooler and token types.
  const ModelShape bert = Shape(R"({"model_type": "bert", "num_hidden_layers": 12,
      "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072,
      "hidden_act": "gelu", "vocab_size": 30522, "max_position_embeddings": 512,
      "type_vocab_size": 2, "pad_token_id": 0})",
                                "{}");
  EXPECT_EQ(ParameterCount(bert), 109482240 - (768 * 768 + 768) - 2 * 768);
  EXPECT_FALSE(bert.attention.causal);
}

TEST(HfConfig, LayerTypesSelectLayersWithAWindow) {
  const auto window = [](const char* types) {
    return Shape(Decoder("qwen3", 4, 64, 8, 8, 128, 100,
                         std::string(R"(, "use_sliding_window": true, "sliding_window": 128,
        "max_window_layers": 0, "layer_types": )") +
                             types));
  };
  EXPECT_EQ(window(R"(["sliding_attention", "full_attention", "sliding_attention",
      "full_attention"])")
                .attention.full_attention_every,
            2);
  EXPECT_EQ(window(R"(["full_attention", "full_attention", "full_attention", "full_attention"])")
                .attention.window,
            0);
  EXPECT_EQ(window(R"(["sliding_attention", "sliding_attention", "sliding_attention",
      "sliding_attention"])")
                .attention.window,
            128);
}

// Qwen2Config: with use_sliding_window, layers from max_window_layers (28) on have a window.
TEST(HfConfig, QwenWindowsBeginAtALateLayer) {
  const auto qwen = [](const std::string& more) {
    return Shape(
        Decoder("qwen2", 48, 5120, 40, 8, 13824, 152064, R"(, "use_sliding_window": true)" + more));
  };
  const ModelShape late = qwen(R"(, "sliding_window": 512, "max_window_layers": 40)");
  EXPECT_EQ(late.attention.window, 512);
  EXPECT_EQ(late.attention.full_attention_first, 40);
  EXPECT_TRUE(!late.attention.HasWindow(39) && late.attention.HasWindow(40));
  const ModelShape assumed = qwen("");
  EXPECT_EQ(assumed.attention.window, 4096);
  EXPECT_EQ(assumed.attention.full_attention_first, 28);
  EXPECT_EQ(qwen(R"(, "max_window_layers": 48)").attention.window, 0);
  EXPECT_EQ(qwen(R"(, "sliding_window": null)").attention.window, 0);
  EXPECT_EQ(Shape(Decoder("qwen2", 48, 5120, 40, 8, 13824, 152064)).attention.window, 0)
      << "use_sliding_window is absent";
  const ModelShape listed = Shape(Decoder("qwen3", 4, 64, 8, 8, 128, 100,
                                          R"(, "use_sliding_window": true, "sliding_window": 8,
      "layer_types": ["full_attention", "full_attention", "full_attention", "sliding_attention"])"));
  EXPECT_EQ(listed.attention.full_attention_first, 3);
}

// transformers has defaults for absent fields, not for fields that are null.
TEST(HfConfig, AnAbsentFieldDiffersFromNull) {
  const auto mistral = [](const std::string& more) {
    return Shape(R"({"model_type": "mistral", "num_hidden_layers": 2, "hidden_size": 256,
        "num_attention_heads": 16, "intermediate_size": 64, "vocab_size": 100)" +
                 more + "}");
  };
  EXPECT_EQ(mistral("").attention.kv_heads, 8);
  EXPECT_EQ(mistral("").attention.window, 4096);
  EXPECT_EQ(mistral(R"(, "num_key_value_heads": null, "sliding_window": null)").attention.kv_heads,
            16);
  EXPECT_EQ(mistral(R"(, "sliding_window": null)").attention.window, 0);
  EXPECT_EQ(
      Shape(Decoder("qwen3", 2, 64, 8, 8, 128, 100, R"(, "head_dim": null)")).attention.head_dim,
      8);
  const ModelShape gemma = Shape(Decoder("gemma2", 26, 2304, 8, 4, 9216, 256000));
  EXPECT_TRUE(gemma.attention.HasWindow(0) && !gemma.attention.HasWindow(1));
}

TEST(HfConfig, ReportsFieldsThatChangeOps) {
  ImportNotes notes;
  const Result<ModelShape> gemma =
      Read(Decoder("gemma3_text", 6, 64, 8, 8, 128, 100,
                   R"(, "architectures": ["GemmaEmbeddingModel"], "final_logit_softcapping": 30.0,
                   "attn_logit_softcapping": null, "use_bidirectional_attention": true)"),
           "sequence: 64", false, &notes);
  ASSERT_TRUE(gemma.ok()) << gemma.error().ToString();
  EXPECT_FALSE(gemma->attention.causal);
  EXPECT_EQ(notes.unmodeled,
            std::vector<std::string>{"final_logit_softcapping (kernels that bound the logits)"});
  EXPECT_EQ(notes.remarks, std::vector<std::string>{
                               "'GemmaEmbeddingModel' has another head or none; the generated head "
                               "is that of a language model"});
  const auto message = [](const std::string& config, bool strict = false) {
    const Result<ModelShape> shape = Read(config, "sequence: 4096", strict);
    return shape.ok() ? "" : shape.error().message();
  };
  EXPECT_EQ(
      message(Decoder("gemma2", 2, 64, 8, 8, 128, 100, R"(, "final_logit_softcapping": 30)"), true),
      "not modeled: final_logit_softcapping (kernels that bound the logits)");
  EXPECT_EQ(message(Decoder("qwen3", 2, 64, 8, 8, 128, 100, R"(, "attention_bias": true)")),
            "'attention_bias' would change the shape of the model; it is not supported for a qwen3")
      << "the output projection would have a bias too";
  EXPECT_EQ(message(Decoder("gemma2", 4, 64, 8, 8, 128, 100,
                            R"(, "layer_types": ["sliding_attention", "full_attention"])")),
            "'layer_types' lists 2 layers; num_hidden_layers is 4");
  EXPECT_EQ(message(Decoder("gemma2", 4, 64, 8, 8, 128, 100, R"(, "layer_types":
      ["sliding_attention", "full_attention", "full_attention", "sliding_attention"])")),
            "model.yaml can only state windows with n layers without one at the start, then every "
            "n-th");
  EXPECT_EQ(
      message(R"({"model_type": "bert", "num_hidden_layers": 2, "hidden_size": 64,
      "num_attention_heads": 8, "position_embedding_type": "relative_key"})"),
      "'position_embedding_type' is relative_key, which is not generated for a bert; expected "
      "absolute or learned_absolute");
}

TEST(HfConfig, ReportsGroupsOfExperts) {
  const auto unmodeled = [](const std::string& groups) {
    ImportNotes notes;
    const std::string config =
        DeepSeek("deepseek_v2", 60, 5120, 128, 12288, 102400, "1536", 1, 160, 6, 2, 1536, groups);
    EXPECT_TRUE(Read(config, "sequence: 4096", false, &notes).ok());
    return notes.unmodeled;
  };
  EXPECT_EQ(
      unmodeled(R"(, "n_group": 8, "topk_group": 3)"),
      (std::vector<std::string>{"n_group (a choice of expert groups in the router kernels)",
                                "topk_group (a choice of expert groups in the router kernels)"}));
  EXPECT_EQ(unmodeled(R"(, "n_group": 1, "topk_group": 1)"), std::vector<std::string>{});
}

TEST(HfConfig, AnUnknownTypeListsTheValidTypes) {
  EXPECT_EQ(ErrorOf("{\n  \"model_type\": \"lama\"\n}"),
            "config.json:2:17: error: unsupported model_type 'lama'; did you mean 'llama'?; valid "
            "values are "
            "bamba, bert, deepseek_v2, deepseek_v3, deepseek_v32, gemma, gemma2, "
            "gemma3_text, glm4_moe, glm4_moe_lite, glm4v_moe_text, glm_moe_dsa, gpt2, "
            "gpt_oss, granite, granitemoehybrid, kimi_k2, llama, llama4_text, mamba2, mimo, "
            "minimax_m2, mistral, mixtral, nemotron, nemotron-nas, nemotron_h, olmo2, "
            "olmo3, olmoe, phi3, phi4, qwen2, qwen2_5_vl, qwen2_5_vl_text, qwen2_moe, "
            "qwen2_vl, qwen2_vl_text, qwen3, qwen3_5_moe_text, qwen3_5_text, qwen3_moe, "
            "qwen3_next, qwen3_vl_moe_text, qwen3_vl_text, smollm3, vit\n"
            "    \"model_type\": \"lama\"\n"
            "                  ^");
  EXPECT_EQ(ErrorOf("{}"), "config.json:1:1: error: a config.json needs 'model_type'\n  {}\n  ^");
  EXPECT_EQ(ErrorOf("[1]"), "config.json:1:1: error: a config.json must be one object\n  [1]\n  ^");
}

// Another member of a family is no misspelling.
TEST(HfConfig, AHintStaysInsideAFamily) {
  for (const char* type : {"llama5", "qwen4", "gemma4", "phi", "olmo", "mimo_v3", "deepseek_v4"}) {
    const std::string error = ErrorOf(fmt::format("{{\"model_type\": \"{}\"}}", type));
    EXPECT_EQ(error.find("did you mean"), std::string::npos) << error;
  }
  EXPECT_NE(ErrorOf(R"({"model_type": "mistrall"})").find("did you mean 'mistral'?"),
            std::string::npos);
}

TEST(HfConfig, NamesThePartThatIsNotModeled) {
  EXPECT_NE(ErrorOf(R"({"model_type": "falcon"})")
                .find("config.json:1:16: error: model_type 'falcon' needs what Drydock does not "
                      "model: attention and MLP side by side on one input (parallel_attn)\n"),
            std::string::npos);
  EXPECT_NE(
      ErrorOf(Decoder("glm_moe_dsa", 4, 64, 8, 8, 128, 100,
                      R"(, "index_topk": 8, "index_topk_freq": 4)"))
          .find("an indexer in every 4th layer, whose keys the layers behind it share, is not "
                "modeled"),
      std::string::npos);
}

TEST(HfConfig, NamesTheMissingPartUnderEveryNameOfAFamily) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"model_type": "gemma4", "text_config": {"hidden_size": 64}})", "global_head_dim"},
      {R"({"model_type": "gemma4_unified", "text_config": {"hidden_size": 64}})",
       "global_head_dim"},
      {R"({"model_type": "minimax_m3_vl", "text_config": {"hidden_size": 64}})",
       "sparse_attention_config"},
      {R"({"model_type": "minimax_m3", "hidden_size": 64})", "sparse_attention_config"},
      {R"({"model_type": "deepseek_v4"})", "compress_ratios"},
      {R"({"model_type": "falcon_h1"})", "attention and Mamba-2 side by side in each layer"},
      {R"({"model_type": "falcon_mamba"})", "Mamba-1 layers"},
      {R"({"model_type": "jamba"})", "Mamba-1 layers"},
      {R"({"model_type": "kimi_linear"})", "Kimi Delta Attention"},
      {R"({"model_type": "mimo_v2_flash"})", "swa_num_key_value_heads"},
      {R"({"model_type": "zamba2"})", "attention layers that share their weights"}};
  for (const auto& [config, part] : cases) {
    const std::string error = ErrorOf(config);
    EXPECT_NE(error.find("needs what Drydock does not model: "), std::string::npos) << error;
    EXPECT_NE(error.find(part), std::string::npos) << error;
    EXPECT_EQ(error.find("did you mean"), std::string::npos) << error;
  }
}

TEST(HfConfig, Mamba2) {
  const std::string fields = R"({"model_type": "mamba2", "num_hidden_layers": 3, "hidden_size": 64,
      "num_heads": 8, "head_dim": 16, "state_size": 32, "n_groups": 2, "vocab_size": 100)";
  ImportNotes notes;
  const Result<ModelShape> m = Read(fields + R"(, "residual_in_fp32": true})", "sequence: 4096",
                                    /*strict=*/false, &notes);
  ASSERT_TRUE(m.ok()) << m.error().ToString();
  EXPECT_EQ(m->pattern, "MMM");
  EXPECT_EQ(m->mamba.heads, 8);
  EXPECT_EQ(m->mamba.head_dim, 16);
  EXPECT_EQ(m->mamba.state, 32);
  EXPECT_EQ(m->mamba.groups, 2);
  EXPECT_EQ(m->embedding.positions, Positions::kNone);
  EXPECT_EQ(notes.unmodeled,
            std::vector<std::string>{"residual_in_fp32 (a residual stream in fp32, which sums and "
                                     "norms read and write)"});
  notes = {};
  ASSERT_TRUE(Read(fields + R"(, "residual_in_fp32": false})", "sequence: 64", false, &notes).ok());
  EXPECT_TRUE(notes.unmodeled.empty());
  EXPECT_NE(ErrorOf(fields + R"(, "intermediate_size": 64})")
                .find("'intermediate_size' makes a scan 64 wide; num_heads x head_dim are 128"),
            std::string::npos);
  EXPECT_NE(ErrorOf(fields + R"(, "use_bias": true})").find("'use_bias'"), std::string::npos);
  EXPECT_NE(ErrorOf(fields + R"(, "rms_norm": false})").find("'rms_norm' is false"),
            std::string::npos);
}

// The file of Gemma 2 states its window twice.
TEST(HfConfig, Gemma2HasTwoNamesForItsWindow) {
  const auto window = [](const char* fields) {
    return Shape(Decoder("gemma2", 26, 2304, 8, 4, 9216, 256000, fields)).attention.window;
  };
  EXPECT_EQ(window(R"(, "sliding_window": 4096, "sliding_window_size": 4096)"), 4096);
  EXPECT_EQ(window(R"(, "sliding_window_size": 2048)"), 2048);
}

TEST(HfConfig, LearnedPositionsBoundTheSequence) {
  const Result<ModelShape> longer =
      Read(R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 2, "n_positions": 1024,
               "vocab_size": 100})",
           "{}");
  ASSERT_TRUE(longer.ok());
  EXPECT_EQ(longer->embedding.max_positions, 1024);
}

TEST(HfConfig, Llama4) {
  const std::string fields = R"(, "intermediate_size_mlp": 256, "interleave_moe_layer_step": 2,
      "num_local_experts": 4, "num_experts_per_tok": 1, "head_dim": 8, "attention_chunk_size": 512)";
  const ModelShape m = Shape(Decoder("llama4_text", 8, 64, 8, 8, 128, 100, fields));
  EXPECT_FALSE(m.PartsOf(0).experts);
  EXPECT_TRUE(m.PartsOf(1).experts);
  EXPECT_EQ(m.mlp.ffn, 256);
  EXPECT_EQ(m.moe.ffn, 128);
  EXPECT_EQ(m.moe.shared_ffn, 128);
  EXPECT_TRUE(m.PartsOf(2).rotates && m.PartsOf(2).window);
  EXPECT_FALSE(m.PartsOf(3).rotates || m.PartsOf(3).window) << "every 4th sees all keys";
  EXPECT_EQ(m.attention.window_kind, WindowKind::kChunked);
  EXPECT_EQ(m.attention.qk_norm_kind, QkNormKind::kWeightless);
  EXPECT_EQ(ErrorOf(Decoder("llama4_text", 4, 64, 8, 8, 128, 100,
                            fields + R"(, "no_rope_layers": [1, 0, 0, 1])"))
                    .find("model.yaml can only state that every n-th layer has no positions") ==
                std::string::npos,
            false);
}

std::string MessageOf(const std::string& more, bool strict = false) {
  const Result<ModelShape> shape =
      Read(Decoder("llama", 2, 64, 8, 8, 128, 100, more), "sequence: 64", strict);
  return shape.ok() ? "" : shape.error().message();
}

TEST(HfConfig, RejectsUnknownSizes) {
  EXPECT_EQ(
      MessageOf(R"(, "num_local_experts": 8)"),
      "'num_local_experts' would change the shape of the model; it is not supported for a llama");
  EXPECT_EQ(MessageOf(R"(, "hidden_size_per_layer": 8, "state_dim": 4)"),
            "'state_dim' would change the shape of the model; it is not supported for a llama");
  EXPECT_EQ(MessageOf(R"(, "mlp_bias": true)"),
            "'mlp_bias' would change the shape of the model; it is not supported for a llama");
  EXPECT_EQ(MessageOf(R"(, "num_local_experts": 0, "sliding_window": null)", true), "");
}

TEST(HfConfig, ReportsOtherUnknownFields) {
  ImportNotes notes;
  ASSERT_TRUE(Read(Decoder("llama", 2, 64, 8, 8, 128, 100, R"(, "a_new_field": 3)"), "sequence: 64",
                   false, &notes)
                  .ok());
  EXPECT_EQ(notes.unknown, std::vector<std::string>{"a_new_field"});
  EXPECT_EQ(notes.ignored, (std::vector<std::string>{"torch_dtype", "rms_norm_eps"}));
  EXPECT_EQ(MessageOf(R"(, "a_new_field": 3)", true), "unknown field 'a_new_field'");
}

TEST(HfConfig, BadValuesAreLocated) {
  EXPECT_EQ(MessageOf(R"(, "hidden_act": "sillu")"),
            "'sillu' is not an activation of a llama; did you mean 'silu'?; valid values are gelu, "
            "gelu_new, "
            "gelu_fast, gelu_pytorch_tanh, silu, swish");
  EXPECT_EQ(MessageOf(R"(, "head_dim": [1])"), "'head_dim' is not a single value");
  EXPECT_EQ(ErrorOf(Decoder("llama", 0, 64, 8, 8, 128, 100)).substr(0, 73),
            "config.json:1:46: error: 'layers' is 0; it must be between 1 and 10000\n  ");
  EXPECT_EQ(Read(Decoder("llama", 2, 64, 8, 8, 128, 100), "{}").error().message(),
            "'model' lacks the key 'sequence'");
}

}  // namespace
}  // namespace drydock
