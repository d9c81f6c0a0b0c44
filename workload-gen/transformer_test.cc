#include "workload-gen/transformer.h"

#include <gtest/gtest.h>

#include "workload-gen/test_support.h"

namespace drydock {
namespace {

ModelShape Gpt(int layers, int64_t hidden, int64_t heads, int64_t vocab) {
  ModelShape m;
  m.layers = layers;
  m.hidden = hidden;
  m.heads = m.kv_heads = heads;
  m.head_dim = hidden / heads;
  m.ffn = 4 * hidden;
  m.vocab = vocab;
  m.sequence = m.max_positions = 2048;
  return m;
}

ModelShape Llama(int layers, int64_t hidden, int64_t heads, int64_t kv, int64_t ffn,
                 int64_t vocab) {
  ModelShape m = Gpt(layers, hidden, heads, vocab);
  m.kv_heads = kv;
  m.ffn = ffn;
  m.gated = m.rms_norm = true;
  m.learned_positions = m.tied_embedding = m.bias = m.qkv_bias = false;
  return m;
}

TEST(Transformer, ParametersOfPublishedGpts) {
  EXPECT_EQ(ParameterCount(Gpt(12, 768, 12, 50257)), 125226240);
  EXPECT_EQ(ParameterCount(Gpt(24, 2048, 16, 50257)), 1315723264);
  EXPECT_EQ(ParameterCount(Gpt(32, 4096, 32, 50257)), 6658404352);
  EXPECT_EQ(ParameterCount(Gpt(40, 5120, 40, 50257)), 12853386240);
  EXPECT_EQ(ParameterCount(Gpt(96, 12288, 96, 50257)), 174604259328);
  EXPECT_EQ(ParameterCount(Gpt(96, 12288, 96, 51200)), 174615846912);
  EXPECT_EQ(ParameterCount(Gpt(24, 2304, 24, 51200)), 1652230656);
  EXPECT_EQ(ParameterCount(Gpt(40, 6144, 48, 51200)), 18449756160);
  EXPECT_EQ(ParameterCount(Gpt(105, 20480, 128, 51200)), 529600819200);
  EXPECT_EQ(ParameterCount(Gpt(128, 25600, 160, 51200)), 1008038758400);
}

TEST(Transformer, ParametersOfPublishedLlamasAndQwens) {
  EXPECT_EQ(ParameterCount(Llama(32, 4096, 32, 32, 11008, 32000)), 6738415616);
  EXPECT_EQ(ParameterCount(Llama(40, 5120, 40, 40, 13824, 32000)), 13015864320);
  EXPECT_EQ(ParameterCount(Llama(80, 8192, 64, 8, 28672, 32000)), 68976648192);
  EXPECT_EQ(ParameterCount(Llama(32, 4096, 32, 8, 14336, 128256)), 8030261248);
  EXPECT_EQ(ParameterCount(Llama(80, 8192, 64, 8, 28672, 128256)), 70553706496);
  EXPECT_EQ(ParameterCount(Llama(126, 16384, 128, 8, 53248, 128256)), 405853388800);
  ModelShape tied = Llama(16, 2048, 32, 8, 8192, 128256);
  tied.tied_embedding = true;
  EXPECT_EQ(ParameterCount(tied), 1235814400);
  ModelShape qwen = Llama(28, 3584, 28, 4, 18944, 152064);
  qwen.qkv_bias = true;
  EXPECT_EQ(ParameterCount(qwen), 7615616512);
}

// 72 B l s h^2 (1 + s/6h + V/12lh): Korthikanti et al. 2022, appendix A.
TEST(Transformer, ModelFlopsAreThePapersFormula) {
  const TrainingJob job = *LoadTrainingJob("configs/models/gpt-22b.yaml", {});
  const double b = 4, l = 48, s = 2048, h = 6144, v = 51200;
  const double paper = 72 * b * l * s * h * h * (1 + s / (6 * h) + v / (12 * l * h));
  EXPECT_NEAR(FlopsOfIteration(job).model / paper, 1, 1e-12);
  // Full recomputation repeats every layer's forward, not the logits.
  const double layers = 24 * b * l * s * h * h * (1 + s / (6 * h));
  EXPECT_NEAR((FlopsOfIteration(job).hardware - paper) / layers, 1, 1e-9);
}

TEST(Transformer, SelectiveRecomputationRepeatsTheAttentionCore) {
  const TrainingJob job = *LoadTrainingJob("configs/models/gpt-22b-sp-selective.yaml", {});
  const IterationFlops flops = FlopsOfIteration(job);
  const double core = 4.0 * 4 * 48 * 2048 * 2048 * 6144;
  EXPECT_NEAR((flops.hardware - flops.model) / core, 1, 1e-9);
}

TEST(Transformer, CausalHalvingHalvesAttentionOnly) {
  const double full = FlopsOfIteration(TestJob({"training.causal_flops=full"})).model;
  const double half = FlopsOfIteration(TestJob()).model;
  EXPECT_DOUBLE_EQ(full - half, 3 * 8 * 2.0 * 16 * 32 * 32 * 64);
}

TEST(Transformer, RankParametersAddUpToTheModel) {
  const TrainingJob job =
      TestJob({"model.vocab=1024", "parallel.virtual_pipeline=2", "model.tied_embedding=false"});
  const Layout layout = TestLayout(job);
  int64_t split = 0, replicated = 0;
  for (int stage = 0; stage < layout.pipeline; ++stage) {
    for (int chunk = 0; chunk < layout.chunks; ++chunk) {
      for (const Parameter& p : ChunkParameters(job.model, layout, stage, chunk)) {
        const bool whole =
            p.kind == ParameterKind::kProjBias || p.kind == ParameterKind::kFc2Bias ||
            p.kind == ParameterKind::kNorm1Weight || p.kind == ParameterKind::kNorm1Bias ||
            p.kind == ParameterKind::kNorm2Weight || p.kind == ParameterKind::kNorm2Bias ||
            p.kind >= ParameterKind::kFinalNormWeight ||
            p.kind == ParameterKind::kPositionEmbedding;
        const bool head = p.kind == ParameterKind::kHead;
        (whole && !head ? replicated : split) += p.elements;
      }
    }
  }
  EXPECT_EQ(split * layout.tensor + replicated, ParameterCount(job.model));
}

TEST(Transformer, ATiedHeadIsStoredTwiceOnlyAcrossStages) {
  const TrainingJob one = TestJob({"parallel.pipeline=1"});
  const TrainingJob two = TestJob();
  const auto tied = [](const std::vector<Parameter>& list) {
    int count = 0;
    for (const Parameter& p : list) count += p.tied ? 1 : 0;
    return count;
  };
  EXPECT_EQ(tied(ChunkParameters(one.model, TestLayout(one), 0, 0)), 0);
  EXPECT_EQ(tied(ChunkParameters(two.model, TestLayout(two), 0, 0)), 1);
  EXPECT_EQ(tied(ChunkParameters(two.model, TestLayout(two), 1, 0)), 1);
}

}  // namespace
}  // namespace drydock
