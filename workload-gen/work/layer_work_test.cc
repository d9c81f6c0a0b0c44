#include "workload-gen/work/layer_work.h"

#include "core/base/check.h"
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
  template <typename Kind = submodule::Linear>
  const Kind& WorkAt(uint32_t index) const {
    CHECK(At(index).Is<Kind>());
    return *At(index).As<Kind>();
  }

  Workload workload_;
  WorkTables tables_{&workload_};
};

// rows t = 64, hidden 64, ffn 256, TP 2.
TEST_F(LayerWorkTest, LinearLayersOfAGpt) {
  const LayerWork layer = Make({"training.gradient_type=fp32"}).kinds[0];
  const submodule::Linear& qkv = WorkAt(layer.attention->qkv.forward);
  EXPECT_EQ(qkv.rows, 64);
  EXPECT_EQ(qkv.n, 96);
  EXPECT_EQ(qkv.k, 64);
  EXPECT_TRUE(qkv.bias);
  EXPECT_EQ(At(layer.attention->qkv.forward).flops, 2.0 * 64 * 96 * 64);
  EXPECT_EQ(At(layer.attention->qkv.forward).bytes, Bytes(2 * (64 * 64 + 96 * 64 + 64 * 96)));
  const submodule::Linear& proj = WorkAt(layer.attention->proj.forward);
  EXPECT_EQ(proj.n, 64);
  EXPECT_EQ(proj.k, 32);
  EXPECT_FALSE(proj.bias);  // added with the residual
  EXPECT_EQ(WorkAt(layer.mlp->fc1.forward).n, 128);
  EXPECT_EQ(WorkAt(layer.mlp->fc2.forward).k, 128);
  const Submodule& wgrad = At(layer.mlp->fc1.weight_gradient);
  EXPECT_TRUE(WorkAt(layer.mlp->fc1.weight_gradient).accumulate_fp32);
  EXPECT_EQ(wgrad.bytes, Bytes(2 * (64 * 64 + 64 * 128) + 8 * 128 * 64));
  EXPECT_FALSE(layer.mlp->fc1.accumulate);
  EXPECT_FALSE(layer.attention->rotary);
  EXPECT_TRUE(layer.residual_backward);
}

TEST_F(LayerWorkTest, LinearLayersOfALlamaWithGroupedQueries) {
  const LayerWork layer =
      Make({"model.architecture=llama", "model.ffn=192", "model.kv_heads=2", "model.dropout=0"})
          .kinds[0];
  EXPECT_EQ(WorkAt(layer.attention->qkv.forward).n, (64 + 2 * 16) / 2);
  EXPECT_FALSE(WorkAt(layer.attention->qkv.forward).bias);
  EXPECT_EQ(WorkAt(layer.mlp->fc1.forward).n, 2 * 192 / 2);
  EXPECT_EQ(WorkAt<submodule::Activation>(layer.mlp->activation.forward).n, 96);
  EXPECT_TRUE(WorkAt<submodule::Activation>(layer.mlp->activation.forward).gated);
  EXPECT_EQ(WorkAt<submodule::Rotary>(layer.attention->rotary->forward).n, (64 + 16) / 2);
  EXPECT_EQ(WorkAt<submodule::Attention>(layer.attention->core.first.forward).heads, 4);
  EXPECT_EQ(WorkAt<submodule::Attention>(layer.attention->core.first.forward).kv_heads, 1);
  EXPECT_TRUE(WorkAt<submodule::Norm>(layer.attention->norm->forward).rms);
  EXPECT_FALSE(layer.residual_backward);
}

// Transformer Engine's kernel does not scale as YaRN does.
TEST_F(LayerWorkTest, RotaryKernels) {
  const auto fused = [&](const std::string& override) {
    const LayerWork layer = Make({"model.architecture=llama", "model.ffn=192", "model.dropout=0",
                                  "training.kernels=fused", override})
                                .kinds[0];
    return WorkAt<submodule::Rotary>(layer.attention->rotary->forward).fused;
  };
  EXPECT_TRUE(fused("model.positions=rotary"));
  EXPECT_FALSE(fused("model.positions=yarn"));
  EXPECT_FALSE(fused("training.rope_fusion=false"));
  EXPECT_FALSE(fused("training.kernels=unfused"));
}

// Heads of 8, 4 of each rank.
TEST_F(LayerWorkTest, NormsOfQueriesAndKeys) {
  const std::vector<std::string> norms = {"model.positions=rotary", "model.qk_norm=true"};
  const auto made = [&](std::vector<std::string> more) {
    more.insert(more.begin(), norms.begin(), norms.end());
    return Make(more);
  };
  const RankWork each = made({});
  EXPECT_EQ(WorkAt<submodule::Norm>(each.kinds[0].attention->q_norm->forward).rows, 64 * 4);
  EXPECT_EQ(WorkAt<submodule::Norm>(each.kinds[0].attention->q_norm->forward).n, 8);
  const RankWork whole = made({"model.qk_norm_kind=whole"});
  EXPECT_EQ(WorkAt<submodule::Norm>(whole.kinds[0].attention->q_norm->forward).rows, 64);
  EXPECT_EQ(WorkAt<submodule::Norm>(whole.kinds[0].attention->q_norm->forward).n, 32);
  EXPECT_TRUE(whole.kinds[0].attention->whole_norms);
  const RankWork some = made({"model.qk_norm_kind=weightless", "model.no_positions_every=4"});
  ASSERT_EQ(some.kinds.size(), 2u);
  EXPECT_TRUE(some.kinds[0].attention->q_norm && some.kinds[0].attention->rotary);
  EXPECT_FALSE(some.kinds[1].attention->q_norm || some.kinds[1].attention->rotary);
}

TEST_F(LayerWorkTest, LayersWithoutANormBeforeThem) {
  const LayerWork layer = Make({"model.pre_norms=false", "model.post_norms=true"}).kinds[0];
  EXPECT_FALSE(layer.attention->norm || layer.norm2);
  EXPECT_TRUE(layer.attention->post_norm && layer.post_norm2);
}

TEST_F(LayerWorkTest, SequenceParallelismSplitsRowsOutsideTheLinearLayers) {
  const RankWork work = Make({"parallel.sequence_parallel=true"});
  EXPECT_EQ(WorkAt<submodule::Norm>(work.kinds[0].attention->norm->forward).rows, 32);
  EXPECT_EQ(WorkAt<submodule::BiasDropoutAdd>(work.kinds[0].residual2.backward).rows, 32);
  EXPECT_EQ(WorkAt(work.kinds[0].attention->qkv.forward).rows, 64);
  EXPECT_EQ(WorkAt(work.head.logits.forward).rows, 64);
  EXPECT_EQ(WorkAt<submodule::BiasDropoutAdd>(work.embedding.dropout->forward).rows, 32);
}

TEST_F(LayerWorkTest, UnfusedAccumulationIsASeparateKernel) {
  const LayerWork layer =
      Make({"training.gradient_accumulation_fusion=false", "training.gradient_type=fp32"}).kinds[0];
  EXPECT_FALSE(WorkAt(layer.attention->qkv.weight_gradient).accumulate_fp32);
  ASSERT_TRUE(layer.attention->qkv.accumulate);
  const auto& add = WorkAt<submodule::Add>(*layer.attention->qkv.accumulate);
  EXPECT_EQ(add.rows * add.n, 96 * 64);
  EXPECT_EQ(At(*layer.attention->qkv.accumulate).bytes, Bytes(10 * 96 * 64));
}

Submodule WithCosts(const SubmoduleWork& work, Pass pass = Pass::kForward) {
  Submodule s{.pass = pass, .work = work};
  FillCosts(&s);
  return s;
}

TEST(SubmoduleCosts, FusedAndUnfusedAttention) {
  submodule::Attention attention{
      .batch = 2, .sequence = 128, .heads = 4, .kv_heads = 2, .head_dim = 32, .causal = true};
  const double scores = 2.0 * 128 * 128 * 4 * 32;
  EXPECT_EQ(WithCosts(attention).flops, 4 * scores);
  const int64_t tensors = 2 * 2 * 128 * 32 * (2 * 4 + 2 * 2);
  EXPECT_EQ(WithCosts(attention).bytes, Bytes(tensors + 2 * 4 * 2 * 4 * 128 * 128));
  attention.fused = true;
  EXPECT_EQ(WithCosts(attention).flops, 2 * scores);
  EXPECT_EQ(WithCosts(attention).bytes, Bytes(tensors));
  EXPECT_EQ(WithCosts(attention, Pass::kBackward).flops, 5 * scores);
}

// The last 64 queries of a sequence of 128 keys, under a causal mask; values are half as wide as
// keys.
TEST(SubmoduleCosts, SlicesOfAttentionAndNarrowValues) {
  const submodule::Attention slice{.batch = 1,
                                   .sequence = 64,
                                   .heads = 2,
                                   .kv_heads = 2,
                                   .head_dim = 32,
                                   .kv_sequence = 128,
                                   .value_dim = 16,
                                   .causal = true,
                                   .fused = true};
  const double scores = 2 * 64 * (128 - 32);
  EXPECT_EQ(WithCosts(slice).flops, scores * 2 * (32 + 16));
  EXPECT_EQ(WithCosts(slice).bytes, Bytes(2 * 2 * (64 + 128) * (32 + 16)));
  EXPECT_EQ(WithCosts(slice, Pass::kBackward).flops, scores * (6 * 32 + 4 * 16));
}

TEST(SubmoduleCosts, GroupedLinearReadsTheWeightsOfEachExpert) {
  const Submodule s = WithCosts(submodule::GroupedLinear{.rows = 8, .n = 4, .k = 2, .experts = 3});
  EXPECT_EQ(s.flops, 2 * 8 * 4 * 2);
  EXPECT_EQ(s.bytes, Bytes(2 * (8 * 2 + 3 * 4 * 2 + 8 * 4)));
}

TEST(SubmoduleCosts, OptimizerMovesItsStatesOnce) {
  // Gradient in; weight and two moments in and out; 4 B each.
  EXPECT_EQ(WithCosts(submodule::Optimizer{{10}}).bytes, Bytes(280));
}

}  // namespace
}  // namespace drydock
