#include "workload-gen/work/layer_work.h"

#include "workload-gen/testing/job_testing.h"
#include "workload-gen/work/submodule_costs.h"

namespace drydock {
namespace {

class LayerWorkTest : public testing::Test {
 protected:
  RankWork Make(const std::vector<std::string>& overrides) {
    const TrainingJob job = TestJob(overrides);
    return MakeRankWork(job, TestLayout(job), &tables_);
  }
  const Submodule& At(uint32_t index) const { return workload_.submodules[index]; }

  Workload workload_;
  WorkTables tables_{&workload_};
};

// rows t = 64, hidden 64, ffn 256, TP 2.
TEST_F(LayerWorkTest, LinearLayersOfAGpt) {
  const LayerWork layer = Make({"training.gradient_type=fp32"}).kinds[0];
  const Submodule& qkv = At(layer.attention.qkv.forward);
  EXPECT_EQ(qkv.rows, 64);
  EXPECT_EQ(qkv.n, 96);
  EXPECT_EQ(qkv.k, 64);
  EXPECT_TRUE(qkv.bias);
  EXPECT_EQ(qkv.flops, 2.0 * 64 * 96 * 64);
  EXPECT_EQ(qkv.bytes, Bytes(2 * (64 * 64 + 96 * 64 + 64 * 96)));
  const Submodule& proj = At(layer.attention.proj.forward);
  EXPECT_EQ(proj.n, 64);
  EXPECT_EQ(proj.k, 32);
  EXPECT_FALSE(proj.bias);  // added with the residual
  EXPECT_EQ(At(layer.mlp->fc1.forward).n, 128);
  EXPECT_EQ(At(layer.mlp->fc2.forward).k, 128);
  const Submodule& wgrad = At(layer.mlp->fc1.weight_gradient);
  EXPECT_TRUE(wgrad.accumulate_fp32);
  EXPECT_EQ(wgrad.bytes, Bytes(2 * (64 * 64 + 64 * 128) + 8 * 128 * 64));
  EXPECT_FALSE(layer.mlp->fc1.accumulate);
  EXPECT_FALSE(layer.attention.rotary);
  EXPECT_TRUE(layer.residual_backward);
}

TEST_F(LayerWorkTest, LinearLayersOfALlamaWithGroupedQueries) {
  const LayerWork layer =
      Make({"model.architecture=llama", "model.ffn=192", "model.kv_heads=2", "model.dropout=0"})
          .kinds[0];
  EXPECT_EQ(At(layer.attention.qkv.forward).n, (64 + 2 * 16) / 2);
  EXPECT_FALSE(At(layer.attention.qkv.forward).bias);
  EXPECT_EQ(At(layer.mlp->fc1.forward).n, 2 * 192 / 2);
  EXPECT_EQ(At(layer.mlp->activation.forward).n, 96);
  EXPECT_TRUE(At(layer.mlp->activation.forward).gated);
  EXPECT_EQ(At(layer.attention.rotary->forward).n, (64 + 16) / 2);
  EXPECT_EQ(At(layer.attention.core.first.forward).heads, 4);
  EXPECT_EQ(At(layer.attention.core.first.forward).kv_heads, 1);
  EXPECT_TRUE(At(layer.attention.norm.forward).rms);
  EXPECT_FALSE(layer.residual_backward);
}

TEST_F(LayerWorkTest, SequenceParallelismSplitsRowsOutsideTheLinearLayers) {
  const RankWork work = Make({"parallel.sequence_parallel=true"});
  EXPECT_EQ(At(work.kinds[0].attention.norm.forward).rows, 32);
  EXPECT_EQ(At(work.kinds[0].residual2.backward).rows, 32);
  EXPECT_EQ(At(work.kinds[0].attention.qkv.forward).rows, 64);
  EXPECT_EQ(At(work.head.logits.forward).rows, 64);
  EXPECT_EQ(At(work.embedding.dropout->forward).rows, 32);
}

TEST_F(LayerWorkTest, UnfusedAccumulationIsAKernelOfItsOwn) {
  const LayerWork layer =
      Make({"training.gradient_accumulation_fusion=false", "training.gradient_type=fp32"}).kinds[0];
  EXPECT_FALSE(At(layer.attention.qkv.weight_gradient).accumulate_fp32);
  ASSERT_TRUE(layer.attention.qkv.accumulate);
  const Submodule& add = At(*layer.attention.qkv.accumulate);
  EXPECT_EQ(add.kind, SubmoduleKind::kAdd);
  EXPECT_EQ(add.rows * add.n, 96 * 64);
  EXPECT_EQ(add.bytes, Bytes(10 * 96 * 64));
}

TEST(SubmoduleCosts, AttentionFusedAndNot) {
  Submodule s;
  s.kind = SubmoduleKind::kAttention;
  s.batch = 2;
  s.sequence = 128;
  s.heads = 4;
  s.kv_heads = 2;
  s.head_dim = 32;
  s.causal = true;
  FillCosts(&s);
  const double scores = 2.0 * 128 * 128 * 4 * 32;
  EXPECT_EQ(s.flops, 4 * scores);
  const int64_t tensors = 2 * 2 * 128 * 32 * (2 * 4 + 2 * 2);
  EXPECT_EQ(s.bytes, Bytes(tensors + 2 * 4 * 2 * 4 * 128 * 128));
  s.fused = true;
  FillCosts(&s);
  EXPECT_EQ(s.flops, 2 * scores);
  EXPECT_EQ(s.bytes, Bytes(tensors));
  s.pass = Pass::kBackward;
  FillCosts(&s);
  EXPECT_EQ(s.flops, 5 * scores);
}

// A slice of 64 queries that sees 128 keys under the mask's end, values half as wide as keys.
TEST(SubmoduleCosts, SlicesOfAttentionAndNarrowValues) {
  Submodule s;
  s.kind = SubmoduleKind::kAttention;
  s.batch = 1, s.sequence = 64, s.kv_sequence = 128, s.heads = s.kv_heads = 2;
  s.head_dim = 32, s.value_dim = 16;
  s.causal = s.fused = true;
  FillCosts(&s);
  const double scores = 2 * 64 * (128 - 32);
  EXPECT_EQ(s.flops, scores * 2 * (32 + 16));
  EXPECT_EQ(s.bytes, Bytes(2 * 2 * (64 + 128) * (32 + 16)));
  s.pass = Pass::kBackward;
  FillCosts(&s);
  EXPECT_EQ(s.flops, scores * (6 * 32 + 4 * 16));
}

TEST(SubmoduleCosts, ExpertsHaveWeightsOfTheirOwn) {
  Submodule s;
  s.kind = SubmoduleKind::kGroupedLinear;
  s.rows = 8, s.n = 4, s.k = 2, s.experts = 3;
  FillCosts(&s);
  EXPECT_EQ(s.flops, 2 * 8 * 4 * 2);
  EXPECT_EQ(s.bytes, Bytes(2 * (8 * 2 + 3 * 4 * 2 + 8 * 4)));
}

TEST(SubmoduleCosts, OptimizerMovesItsStatesOnce) {
  Submodule s;
  s.kind = SubmoduleKind::kOptimizer;
  s.elements = 10;
  FillCosts(&s);
  EXPECT_EQ(s.bytes, Bytes(280));  // gradient in; weight, two moments in and out; 4 B each
}

}  // namespace
}  // namespace drydock
