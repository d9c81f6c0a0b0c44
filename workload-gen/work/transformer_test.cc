#include "workload-gen/work/transformer.h"

#include <gtest/gtest.h>

#include "workload-gen/testing/job_testing.h"
#include "workload-gen/work/model_size.h"

namespace drydock {
namespace {

TEST(Transformer, RankParametersAddUpToTheModel) {
  const TrainingJob job =
      TestJob({"model.vocab=1024", "parallel.virtual_pipeline=2", "model.tied_embedding=false"});
  const ParallelLayout layout = TestLayout(job);
  int64_t split = 0, replicated = 0;
  for (int stage = 0; stage < layout.pipeline; ++stage) {
    for (int chunk = 0; chunk < layout.chunks; ++chunk) {
      for (const Parameter& p : ChunkParameters(job, layout, stage, chunk)) {
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

// Every kind of layer on two tensor ranks: what a rank holds, and the model's count.
int64_t Held(const std::vector<std::string>& overrides) {
  std::vector<std::string> all = {"model.vocab=1024", "model.tied_embedding=false",
                                  "parallel.pipeline=1", "parallel.sequence_parallel=true"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  const TrainingJob job = TestJob(all);
  const ParallelLayout layout = TestLayout(job);
  int64_t held = 0;
  for (const Parameter& p : ChunkParameters(job, layout, 0, 0)) {
    const bool whole = p.sequence_parallel || p.kind == ParameterKind::kPositionEmbedding;
    held += p.elements * (whole ? 1 : layout.tensor);
  }
  return held - ParameterCount(job.model);
}

TEST(Transformer, ScansLatentExpertsSinksAndBiasesAddUp) {
  EXPECT_EQ(
      Held({"model.layer_pattern=M*-MM-*M", "model.mamba_head_dim=16", "model.mamba_groups=2"}), 0);
  EXPECT_EQ(
      Held({"model.delta_attention_every=4", "model.delta_key_heads=2", "model.delta_value_heads=4",
            "model.attention_gate=true", "model.attention_sinks=true"}),
      0);
  EXPECT_EQ(Held({"model.experts=4", "model.experts_per_token=2", "model.bias=false",
                  "model.expert_latent=16"}),
            0);
  EXPECT_EQ(Held({"model.kv_lora_rank=16", "model.q_lora_rank=24", "model.qk_nope_dim=8",
                  "model.qk_rope_dim=4", "model.value_dim=6", "model.bias=false",
                  "model.index_heads=2", "model.index_head_dim=8", "model.index_topk=4"}),
            0);
  // Each of two tensor ranks holds the whole bias of fc2 of 4 experts in 8 layers.
  EXPECT_EQ(Held({"model.experts=4", "model.experts_per_token=2"}), 8 * 4 * 64);
}

// Sparse attention uses the weight of the up-projection in 16 bits, without running its module.
TEST(Transformer, SparseAttentionDoesNotQuantizeItsUpProjection) {
  std::vector<std::string> overrides = {"training.precision=fp8", "parallel.sequence_parallel=true",
                                        "model.bias=false",       "model.kv_lora_rank=16",
                                        "model.qk_nope_dim=8",    "model.qk_rope_dim=4",
                                        "model.value_dim=6"};
  const Parameter weight = {ParameterKind::kKvUpWeight, 1, 64};
  EXPECT_TRUE(IsQuantizedWeight(TestJob(overrides), weight));
  overrides.insert(overrides.end(),
                   {"model.index_heads=2", "model.index_head_dim=8", "model.index_topk=4"});
  EXPECT_FALSE(IsQuantizedWeight(TestJob(overrides), weight));
  EXPECT_TRUE(IsQuantizedWeight(TestJob(overrides), {ParameterKind::kQUpWeight, 1, 64}));
}

TEST(Transformer, ATiedHeadIsStoredTwiceOnlyAcrossStages) {
  const TrainingJob one = TestJob({"parallel.pipeline=1"});
  const TrainingJob two = TestJob();
  const auto tied = [](const std::vector<Parameter>& list) {
    int count = 0;
    for (const Parameter& p : list) count += p.tied ? 1 : 0;
    return count;
  };
  EXPECT_EQ(tied(ChunkParameters(one, TestLayout(one), 0, 0)), 0);
  EXPECT_EQ(tied(ChunkParameters(two, TestLayout(two), 0, 0)), 1);
  EXPECT_EQ(tied(ChunkParameters(two, TestLayout(two), 1, 0)), 1);
}

// The order of the layer's first parameters, and of its experts'.
std::vector<ParameterKind> OrderOf(const std::vector<std::string>& overrides) {
  std::vector<std::string> all = {"parallel.tensor=1", "parallel.pipeline=1"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  const TrainingJob job = TestJob(all);
  std::vector<ParameterKind> kinds;
  for (const Parameter& p : ChunkParameters(job, TestLayout(job), 0, 0)) {
    if (p.layer == 0) kinds.push_back(p.kind);
  }
  return kinds;
}

using enum ParameterKind;

TEST(Transformer, ModulesRegisterTheirNorms) {
  const std::vector<ParameterKind> engine = OrderOf({"training.kernels=fused"});
  EXPECT_EQ(std::vector(engine.begin(), engine.begin() + 6),
            (std::vector{kProjWeight, kProjBias, kNorm1Weight, kNorm1Bias, kQkvWeight, kQkvBias}));
  const std::vector<ParameterKind> own = OrderOf({"training.kernels=unfused"});
  EXPECT_EQ(std::vector(own.begin(), own.begin() + 6),
            (std::vector{kNorm1Weight, kNorm1Bias, kProjWeight, kProjBias, kQkvWeight, kQkvBias}));
  const std::vector<std::string> latent = {"model.kv_lora_rank=16", "model.q_lora_rank=24",
                                           "model.qk_nope_dim=8",   "model.qk_rope_dim=4",
                                           "model.value_dim=6",     "model.bias=false"};
  const auto with = [&latent](const char* kernels) {
    std::vector<std::string> all = latent;
    all.push_back(kernels);
    const std::vector<ParameterKind> kinds = OrderOf(all);
    return std::vector(kinds.begin() + 3, kinds.begin() + 9);
  };
  EXPECT_EQ(with("training.kernels=fused"),
            (std::vector{kQDownWeight, kQNorm, kQUpWeight, kKvDownWeight, kKvNorm, kKvUpWeight}));
  EXPECT_EQ(with("training.kernels=unfused"),
            (std::vector{kQDownWeight, kQUpWeight, kKvDownWeight, kKvUpWeight, kQNorm, kKvNorm}));
}

TEST(Transformer, ExpertsOneByOne) {
  const std::vector<std::string> experts = {"model.experts=2", "model.experts_per_token=1",
                                            "model.bias=false"};
  const auto with = [&experts](const char* grouped) {
    std::vector<std::string> all = experts;
    all.push_back(grouped);
    const std::vector<ParameterKind> kinds = OrderOf(all);
    return std::vector(kinds.end() - 4, kinds.end());
  };
  EXPECT_EQ(with("training.moe_grouped_gemm=true"),
            (std::vector{kExpertFc1Weight, kExpertFc1Weight, kExpertFc2Weight, kExpertFc2Weight}));
  EXPECT_EQ(with("training.moe_grouped_gemm=false"),
            (std::vector{kExpertFc1Weight, kExpertFc2Weight, kExpertFc1Weight, kExpertFc2Weight}));
}

}  // namespace
}  // namespace drydock
