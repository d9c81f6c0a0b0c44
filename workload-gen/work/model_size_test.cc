#include "workload-gen/work/model_size.h"

#include <gtest/gtest.h>

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

ModelShape Gpt(int layers, int64_t hidden, int64_t heads, int64_t vocab) {
  ModelShape m;
  m.layers = layers;
  m.hidden = hidden;
  m.attention.heads = m.attention.kv_heads = heads;
  m.attention.head_dim = hidden / heads;
  m.mlp.ffn = 4 * hidden;
  m.embedding.vocab = vocab;
  m.sequence = m.embedding.max_positions = 2048;
  return m;
}

ModelShape Llama(int layers, int64_t hidden, int64_t heads, int64_t kv, int64_t ffn,
                 int64_t vocab) {
  ModelShape m = Gpt(layers, hidden, heads, vocab);
  m.attention.kv_heads = kv;
  m.mlp.ffn = ffn;
  m.mlp.activation = Activation::kSwiglu;
  m.embedding.positions = Positions::kRotary;
  m.rms_norm = true;
  m.embedding.tied = m.bias = m.attention.qkv_bias = false;
  return m;
}

ModelShape Qwen2(int layers, int64_t hidden, int64_t heads, int64_t kv, int64_t ffn) {
  ModelShape m = Llama(layers, hidden, heads, kv, ffn, 152064);
  m.attention.qkv_bias = true;
  return m;
}

ModelShape Qwen3(int layers, int64_t hidden, int64_t heads, int64_t kv, int64_t ffn) {
  ModelShape m = Llama(layers, hidden, heads, kv, ffn, 151936);
  m.attention.head_dim = 128;
  m.attention.qk_norm = true;
  return m;
}

ModelShape WithExperts(ModelShape m, int experts, int per_token, int64_t ffn) {
  m.moe.experts = experts;
  m.moe.per_token = per_token;
  m.moe.ffn = ffn;
  return m;
}

// `ffn`: of the dense layers at the start; shared experts are as wide as `shared` routed ones.
ModelShape DeepSeek(int layers, int dense, int64_t hidden, int64_t heads, int64_t ffn,
                    int64_t q_rank, int64_t vocab, int experts, int per_token, int64_t expert_ffn,
                    int64_t shared) {
  ModelShape m =
      WithExperts(Llama(layers, hidden, heads, heads, ffn, vocab), experts, per_token, expert_ffn);
  m.attention.latent = {q_rank, 512, 128, 64, 128};
  m.attention.head_dim = 192;
  m.moe.first_dense_layers = dense;
  m.moe.shared_ffn = shared * expert_ffn;
  return m;
}

ModelShape DeepSeekV3() {
  ModelShape m = DeepSeek(61, 3, 7168, 128, 18432, 1536, 129280, 256, 8, 2048, 1);
  m.moe.router_bias = true;
  return m;
}

TEST(ModelSize, Gpts) {
  EXPECT_EQ(ParameterCount(Gpt(12, 768, 12, 50257)), 125226240);
  EXPECT_EQ(ParameterCount(Gpt(24, 2048, 16, 50257)), 1315723264);
  EXPECT_EQ(ParameterCount(Gpt(32, 4096, 32, 50257)), 6658404352);
  EXPECT_EQ(ParameterCount(Gpt(40, 5120, 40, 50257)), 12853386240);
  EXPECT_EQ(ParameterCount(Gpt(96, 12288, 96, 50257)), 174604259328);
  EXPECT_EQ(ParameterCount(Gpt(96, 12288, 96, 51200)), 174615846912);
  EXPECT_EQ(ParameterCount(Gpt(24, 2304, 24, 51200)), 1652230656);
  EXPECT_EQ(ParameterCount(Gpt(40, 6144, 48, 51200)), 18449756160);
  EXPECT_EQ(ParameterCount(Gpt(80, 12288, 96, 51200)), 145622261760);
  EXPECT_EQ(ParameterCount(Gpt(96, 16384, 128, 51200)), 310130540544);
  EXPECT_EQ(ParameterCount(Gpt(105, 20480, 128, 51200)), 529600819200);
  EXPECT_EQ(ParameterCount(Gpt(128, 25600, 160, 51200)), 1008038758400);
}

TEST(ModelSize, Llamas) {
  EXPECT_EQ(ParameterCount(Llama(32, 4096, 32, 32, 11008, 32000)), 6738415616);
  EXPECT_EQ(ParameterCount(Llama(40, 5120, 40, 40, 13824, 32000)), 13015864320);
  EXPECT_EQ(ParameterCount(Llama(80, 8192, 64, 8, 28672, 32000)), 68976648192);
  EXPECT_EQ(ParameterCount(Llama(32, 4096, 32, 8, 14336, 128256)), 8030261248);
  EXPECT_EQ(ParameterCount(Llama(80, 8192, 64, 8, 28672, 128256)), 70553706496);
  EXPECT_EQ(ParameterCount(Llama(126, 16384, 128, 8, 53248, 128256)), 405853388800);
  ModelShape small = Llama(16, 2048, 32, 8, 8192, 128256);
  small.embedding.tied = true;
  EXPECT_EQ(ParameterCount(small), 1235814400);
  ModelShape medium = Llama(28, 3072, 24, 8, 8192, 128256);
  medium.embedding.tied = true;
  EXPECT_EQ(ParameterCount(medium), 3212749824);
}

TEST(ModelSize, Qwens) {
  EXPECT_EQ(ParameterCount(Qwen2(28, 3584, 28, 4, 18944)), 7615616512);
  EXPECT_EQ(ParameterCount(Qwen2(48, 5120, 40, 8, 13824)), 14770033664);
  EXPECT_EQ(ParameterCount(Qwen2(64, 5120, 40, 8, 27648)), 32763876352);
  EXPECT_EQ(ParameterCount(Qwen2(80, 8192, 64, 8, 29568)), 72706203648);
  EXPECT_EQ(ParameterCount(Qwen3(36, 4096, 32, 8, 12288)), 8190735360);
  EXPECT_EQ(ParameterCount(Qwen3(64, 5120, 64, 8, 25600)), 32762123264);
  EXPECT_EQ(ParameterCount(WithExperts(Qwen3(48, 2048, 32, 4, 6144), 128, 8, 768)), 30532122624);
  EXPECT_EQ(ParameterCount(WithExperts(Qwen3(94, 4096, 64, 4, 12288), 128, 8, 1536)), 235093634560);
}

TEST(ModelSize, Mixtrals) {
  EXPECT_EQ(ParameterCount(WithExperts(Llama(32, 4096, 32, 8, 14336, 32000), 8, 2, 14336)),
            46702792704);
  EXPECT_EQ(ParameterCount(WithExperts(Llama(56, 6144, 48, 8, 16384, 32768), 8, 2, 16384)),
            140630071296);
}

TEST(ModelSize, DeepSeeks) {
  EXPECT_EQ(ParameterCount(DeepSeek(27, 1, 2048, 16, 10944, 0, 102400, 64, 6, 1408, 2)),
            15706484224);
  EXPECT_EQ(ParameterCount(DeepSeek(60, 1, 5120, 128, 12288, 1536, 102400, 160, 6, 1536, 2)),
            235741434880);
  EXPECT_EQ(ParameterCount(DeepSeekV3()), 671026419200);
}

// With Nemotron's own names: 56B; 30B-A3B; 120B-A12B, without its layers of multi-token prediction.
ModelShape Nemotron(int64_t hidden, int64_t heads, int64_t kv, int64_t ffn,
                    const std::string& pattern, int64_t mamba_heads, int64_t state) {
  ModelShape m = Llama(static_cast<int>(pattern.size()), hidden, heads, kv, ffn, 131072);
  m.mlp.activation = Activation::kSquaredRelu;
  m.attention.head_dim = 128;
  m.pattern = pattern;
  m.mamba = {.heads = mamba_heads, .head_dim = 64, .state = state, .groups = 8};
  return m;
}

std::string Times(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(ModelSize, Hybrids) {
  // 54 Mamba-2 layers, 54 MLPs and 10 layers of attention, in some order.
  const ModelShape h = Nemotron(8192, 64, 8, 32768, Times("M-", 54) + Times("*", 10), 256, 256);
  EXPECT_NEAR(static_cast<double>(ParameterCount(h)), 56.3e9, 0.1e9);
  // By hand: projections, convolution with its bias, three numbers a head, two norms.
  const int64_t mamba = 8192 * (2 * 16384 + 2 * 8 * 256 + 256) + 16384 * 8192 +
                        (16384 + 2 * 8 * 256) * 5 + 3 * 256 + 16384 + 8192;
  const int64_t mlp = 2 * 8192 * 32768 + 8192;
  const int64_t attention = 8192 * (8192 + 2 * 1024) + 8192 * 8192 + 8192;
  EXPECT_EQ(ParameterCount(h),
            54 * (mamba + mlp) + 10 * attention + int64_t{2} * 131072 * 8192 + 8192);

  ModelShape nano = WithExperts(
      Nemotron(2688, 32, 2, 1856, Times("ME", 23) + Times("*", 6), 64, 128), 128, 6, 1856);
  nano.moe.shared_ffn = 3712;
  nano.moe.router_bias = true;
  EXPECT_NEAR(static_cast<double>(ParameterCount(nano)), 31.6e9, 0.1e9);
  EXPECT_NEAR(static_cast<double>(ActiveParameterCount(nano)), 3.6e9, 0.1e9);

  ModelShape super = WithExperts(
      Nemotron(4096, 32, 2, 2688, Times("ME", 40) + Times("*", 8), 128, 128), 512, 22, 2688);
  super.moe.shared_ffn = 5376;
  super.moe.latent = 1024;
  EXPECT_NEAR(static_cast<double>(ParameterCount(super)), 120.7e9, 0.6e9);
  EXPECT_NEAR(static_cast<double>(ActiveParameterCount(super)), 12.7e9, 0.6e9);
}

TEST(ModelSize, Qwen3Next) {
  ModelShape m = WithExperts(Qwen3(48, 2048, 16, 2, 5120), 512, 10, 512);
  m.attention.head_dim = 256;
  m.attention.gate = true;
  m.moe.shared_ffn = 512;
  m.moe.shared_gate = true;
  m.delta = {.attention_every = 4, .key_heads = 16, .value_heads = 32};
  EXPECT_NEAR(static_cast<double>(ParameterCount(m)), 79.7e9, 0.3e9);
  EXPECT_NEAR(static_cast<double>(ActiveParameterCount(m)), 3.9e9, 0.1e9);
}

// openai/gpt-oss, model card, table 1: 116.83 and 20.91 billion parameters, 5.13 and 3.61 of them
// active without the embedding.
TEST(ModelSize, GptOss) {
  const auto gpt_oss = [](int layers, int experts) {
    ModelShape m = WithExperts(Llama(layers, 2880, 64, 8, 2880, 201088), experts, 4, 2880);
    m.attention.head_dim = 64;
    m.attention.sinks = m.attention.qkv_bias = m.bias = true;
    return m;
  };
  EXPECT_EQ(ParameterCount(gpt_oss(36, 128)), 116829156672);
  EXPECT_EQ(ParameterCount(gpt_oss(24, 32)), 20914757184);
}

// 7 FLOPs for each element of the states, and the products before and after.
TEST(ModelSize, ScansCountAsMegatronCountsThem) {
  const ModelShape h = Nemotron(8192, 64, 8, 32768, "M-*", 256, 256);
  const LayerGemms mamba = GemmsOfLayer(h, 0, true);
  EXPECT_EQ(2 * mamba.sum(),
            2.0 * 8192 * (2 * 16384 + 2 * 8 * 256 + 256) + 7.0 * 16384 * 256 + 2.0 * 16384 * 8192);
  EXPECT_EQ(GemmsOfLayer(h, 1, true).sum(), 2.0 * 8192 * 32768);
  EXPECT_EQ(GemmsOfLayer(h, 1, true).core, 0);
}

// Google's Gemma 2 and 3 have four norms a layer; Gemma 3 norms queries and keys.
TEST(ModelSize, Gemmas) {
  ModelShape gemma = Llama(28, 3072, 16, 16, 24576, 256000);
  gemma.attention.head_dim = 256;
  gemma.embedding.tied = true;
  gemma.mlp.activation = Activation::kGeglu;
  EXPECT_EQ(ParameterCount(gemma), 8537680896);
  ModelShape second = Llama(26, 2304, 8, 4, 9216, 256000);
  second.attention.head_dim = 256;
  second.embedding.tied = second.post_norms = true;
  EXPECT_EQ(ParameterCount(second), 2614341888);
  ModelShape third = Llama(26, 1152, 4, 1, 6912, 262144);
  third.attention.head_dim = 256;
  third.embedding.tied = third.post_norms = third.attention.qk_norm = true;
  EXPECT_EQ(ParameterCount(third), 999885952);
}

// ViT-B/16 of 224 x 224 pixels: 196 patches of 16 x 16 x 3 values and a class token; 1000 classes.
TEST(ModelSize, VisionTransformer) {
  ModelShape vit = Gpt(12, 768, 12, 1000);
  vit.sequence = vit.embedding.max_positions = 197;
  vit.embedding.patch_features = 768;
  vit.embedding.tied = vit.attention.causal = false;
  EXPECT_EQ(ParameterCount(vit), 86567656);
}

TEST(ModelSize, AnMtpLayerSharesEmbeddingAndHead) {
  ModelShape more = DeepSeekV3();
  more.mtp_layers = 1;
  const int64_t experts = 257 * 3 * int64_t{7168} * 2048 + 7168 * 256 + 256;
  const int64_t attention = 187105280 + 1536 + 512;
  EXPECT_EQ(ParameterCount(more) - ParameterCount(DeepSeekV3()),
            experts + attention + 2 * 7168 + 2 * int64_t{7168} * 7168 + 3 * 7168);
}

TEST(ModelSize, ATokenUsesFewExperts) {
  const ModelShape mixtral = WithExperts(Llama(32, 4096, 32, 8, 14336, 32000), 8, 2, 14336);
  EXPECT_EQ(ParameterCount(mixtral) - ActiveParameterCount(mixtral),
            32 * 6 * 3 * int64_t{4096} * 14336);
  EXPECT_NEAR(static_cast<double>(ActiveParameterCount(DeepSeekV3())), 37.55e9, 0.01e9);
}

// ---- FLOPs ----------------------------------------------------------------------------------

// 72 B l s h^2 (1 + s/6h + V/12lh): Korthikanti et al. 2022, appendix A; 96 with full
// recomputation (Narayanan et al., SC'21, equation 3), which repeats the layers and not the logits.
TEST(ModelSize, FlopsOfAGptAreThePapersFormula) {
  const TrainingJob job = *LoadTrainingJob("configs/models/gpt-22b.yaml", {});
  const double b = 4, l = 48, s = 2048, h = 6144, v = 51200;
  const double paper = 72 * b * l * s * h * h * (1 + s / (6 * h) + v / (12 * l * h));
  EXPECT_NEAR(FlopsOfIteration(job).model / paper, 1, 1e-12);
  const double full = 96 * b * l * s * h * h * (1 + s / (6 * h) + v / (16 * l * h));
  EXPECT_NEAR(FlopsOfIteration(job).hardware / full, 1, 1e-12);
}

TEST(ModelSize, SelectiveRecomputationRepeatsTheAttentionCore) {
  const TrainingJob job = *LoadTrainingJob("configs/models/gpt-22b-sp-selective.yaml", {});
  const IterationFlops flops = FlopsOfIteration(job);
  const double core = 4.0 * 4 * 48 * 2048 * 2048 * 6144;
  EXPECT_NEAR((flops.hardware - flops.model) / core, 1, 1e-9);
}

TEST(ModelSize, BlockRecomputationRepeatsTheFirstLayersOfEachChunk) {
  const auto extra = [](const std::vector<std::string>& overrides) {
    const IterationFlops flops = FlopsOfIteration(TestJob(overrides));
    return flops.hardware - flops.model;
  };
  const double all = extra({"training.recompute=full"});
  EXPECT_DOUBLE_EQ(extra({"training.recompute=full", "training.recompute_method=block",
                          "training.recompute_layers=3"}),
                   all * 2 * 3 / 8);
  EXPECT_DOUBLE_EQ(extra({"training.recompute=full", "training.recompute_method=block",
                          "training.recompute_layers=3", "parallel.first_stage_layers=2"}),
                   all * (2 + 3) / 8)
      << "a chunk repeats at most its own layers";
}

TEST(ModelSize, CausalHalvingHalvesAttentionOnly) {
  const double full = FlopsOfIteration(TestJob({"training.causal_flops=full"})).model;
  const double half = FlopsOfIteration(TestJob()).model;
  EXPECT_DOUBLE_EQ(full - half, 3 * 8 * 2.0 * 16 * 32 * 32 * 64);
  EXPECT_DOUBLE_EQ(FlopsOfIteration(TestJob({"model.causal=false"})).model, full);
}

// 6 x parameters of linear layers x tokens + 12 l s Q tokens: grouped queries and a gated MLP
// change only the weights (Q: width of all queries).
TEST(ModelSize, FlopsOfAGatedModelWithGroupedQueries) {
  const TrainingJob job = *LoadTrainingJob(
      "configs/models/llama-3-70b.yaml", {"training.recompute=none", "training.causal_flops=full"});
  const double tokens = 128.0 * 8192, h = 8192, kv = 1024, f = 28672;
  const double layer = 2 * h * h + 2 * h * kv + 3 * h * f;
  const double paper = 6 * tokens * (80 * layer + h * 128256) + 12 * tokens * 80 * 8192 * h;
  EXPECT_NEAR(FlopsOfIteration(job).model / paper, 1, 1e-12);
}

TEST(ModelSize, AWindowBoundsTheKeysOfSomeLayers) {
  ModelShape m = Llama(4, 64, 8, 8, 128, 100);
  m.sequence = 1000;
  m.attention.window = 100;
  m.attention.full_attention_every = 2;
  EXPECT_EQ(GemmsOfLayer(m, 0, false).core, 100 * 2 * 64);
  EXPECT_EQ(GemmsOfLayer(m, 1, false).core, 1000 * 2 * 64);
  // The first 100 queries see 50 keys on average, the other 900 all 100.
  EXPECT_EQ(GemmsOfLayer(m, 0, true).core, 95 * 2 * 64);
  EXPECT_EQ(GemmsOfLayer(m, 1, true).core, 500 * 2 * 64);
}

// A token uses 8 routed experts and the shared one. Each head of latent attention is 192 wide for
// scores and 128 wide for values.
// Megatron-LM counts the model FLOPs of attention to all keys, without an indexer.
TEST(ModelSize, AnIndexerHasParametersButNoModelFlops) {
  ModelShape m = DeepSeek(61, 3, 7168, 128, 18432, 1536, 129280, 256, 8, 2048, 1);
  const int64_t dense = ParameterCount(m);
  const double flops = GemmsOfLayer(m, 5, true).sum();
  m.attention.sparse = {.top_k = 2048, .heads = 64, .head_dim = 128};
  EXPECT_EQ(ParameterCount(m) - dense, 61 * (1536 * 8192 + 7168 * (128 + 64) + 2 * 128));
  EXPECT_EQ(GemmsOfLayer(m, 5, true).sum(), flops);
}

TEST(ModelSize, GemmsOfALatentLayerWithExperts) {
  const ModelShape m = DeepSeekV3();
  const LayerGemms dense = GemmsOfLayer(m, 2, false);
  const LayerGemms experts = GemmsOfLayer(m, 3, false);
  EXPECT_EQ(dense.projections, 187105280);
  EXPECT_EQ(dense.up_projections, 1536 * 128 * 192 + 512 * 128 * 256);
  EXPECT_EQ(dense.core, 2048.0 * 128 * (192 + 128));
  EXPECT_EQ(dense.mlp, 3.0 * 7168 * 18432);
  EXPECT_EQ(dense.experts, 0);
  EXPECT_EQ(experts.mlp, 0);
  EXPECT_EQ(experts.experts, 9 * 3.0 * 7168 * 2048 + 7168 * 256);
  EXPECT_EQ(experts.shared_experts, 3.0 * 7168 * 2048);
}

}  // namespace
}  // namespace drydock
