#include "workload-gen/job/graph_rules.h"

#include <gmock/gmock.h>

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

using testing::HasSubstr;
using Overrides = std::vector<std::string>;

Overrides With(Overrides overrides, const Overrides& more) {
  overrides.insert(overrides.end(), more.begin(), more.end());
  return overrides;
}

Overrides Experts(const Overrides& more) {
  return With({"model.bias=false", "model.experts=4", "model.experts_per_token=2",
               "parallel.tensor=1", "parallel.expert=2"},
              more);
}

Overrides Padded(const Overrides& more) {
  return With(Experts({"training.moe_capacity_factor=1", "training.moe_pad_to_capacity=true"}),
              more);
}

std::string ErrorOf(const Overrides& overrides) {
  const Result<TrainingJob> job = ParseTrainingJob(kTestJob, "test.yaml", overrides);
  return job.ok() ? "" : job.error().ToString();
}

TEST(GraphRules, KeysAndTheirText) {
  const auto text = [](const std::string& value, const Overrides& more = {}) {
    return TestJob(With(Experts({"training.cuda_graphs=" + value}), more))
        .training.host.cuda_graphs.Text();
  };
  EXPECT_EQ(text("none"), "none");
  EXPECT_EQ(text("layers"), "layers");
  EXPECT_EQ(text("full"), "full");
  EXPECT_EQ(text("attn"), "[attn]");
  EXPECT_EQ(text("[moe_preprocess, attn, moe_router]"), "[attn, moe_router, moe_preprocess]");
  EXPECT_EQ(text("[mamba]"), "[mamba]") << "as in Megatron, a part that no layer has is no error";
}

TEST(GraphRules, RegionsOfTheirParts) {
  const GraphRules router =
      TestJob(Experts({"training.cuda_graphs=[moe_router]"})).training.host.cuda_graphs;
  EXPECT_TRUE(router.Holds(LayerRegion::kRouter));
  EXPECT_FALSE(router.Holds(LayerRegion::kPreprocess) || router.Holds(LayerRegion::kExperts) ||
               router.Holds(LayerRegion::kAttention));
  const GraphRules moe = TestJob(Padded({"training.cuda_graphs=moe"})).training.host.cuda_graphs;
  EXPECT_TRUE(moe.Holds(LayerRegion::kRouter) && moe.Holds(LayerRegion::kPreprocess) &&
              moe.Holds(LayerRegion::kExperts));
  EXPECT_FALSE(moe.Holds(LayerRegion::kOutside));
}

struct Broken {
  Overrides overrides;
  const char* message;
};

class GraphRulesTest : public testing::TestWithParam<Broken> {};

TEST_P(GraphRulesTest, Refuses) {
  EXPECT_THAT(ErrorOf(GetParam().overrides), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, GraphRulesTest,
    testing::Values(
        Broken{{"training.cuda_graphs=[atn]"},
               "'atn' is not a scope of CUDA graphs; did you mean 'attn'?; valid values are attn, "
               "mlp, moe, moe_router, moe_preprocess, mamba"},
        Broken{{"training.cuda_graphs=layer"},
               "'layer' is not a scope of CUDA graphs; did you mean 'layers'?; valid values are "
               "none, layers, full, full_iteration, attn"},
        Broken{{"training.cuda_graphs=[attn, layers]"}, "'layers' is not a scope of CUDA graphs"},
        Broken{{"parallel.sequence_parallel=true", "model.bias=false", "model.kv_lora_rank=512",
                "model.qk_nope_dim=8", "model.qk_rope_dim=64", "model.value_dim=8",
                "model.index_heads=4", "model.index_head_dim=64", "model.index_topk=64",
                "training.sparse_attention_kernels=cudnn", "training.cuda_graphs=[attn]"},
               "graphs with attention exclude sparse_attention_kernels: cudnn, whose backward "
               "makes the host read a number of rows"},
        Broken{Padded({"training.cuda_graphs=[moe, moe_router]"}),
               "cuda_graphs: 'moe' and 'moe_router' exclude each other"},
        Broken{Experts({"training.cuda_graphs=[attn, moe_preprocess]"}),
               "cuda_graphs: 'moe_preprocess' needs 'moe_router'"},
        Broken{{"training.cuda_graphs=[moe_router]"},
               "cuda_graphs: 'moe' and 'moe_router' need model.experts"},
        Broken{Experts({"training.cuda_graphs=mlp"}),
               "cuda_graphs: 'mlp' needs a dense layer; all layers have experts"},
        Broken{Experts({"training.cuda_graphs=moe"}),
               "cuda_graphs: 'moe' needs moe_pad_to_capacity: true"},
        Broken{Experts({"training.cuda_graphs=[moe_router, moe_preprocess]",
                        "training.moe_capacity_factor=1"}),
               "cuda_graphs: 'moe_preprocess' with moe_capacity_factor"},
        Broken{{"training.cuda_graphs=[attn]", "training.recompute=full"},
               "graphs of layers or of their parts exclude recompute: full; use full_iteration"},
        Broken{Experts({"training.cuda_graphs=[moe_router]", "training.recompute=selective",
                        "training.recompute_modules=[moe]"}),
               "cuda_graphs: 'moe_router' excludes recompute_modules: [moe]"},
        Broken{Experts({"training.cuda_graphs=[moe_router]", "training.cuda_graph_impl=local"}),
               "cuda_graphs: 'moe_router' with cuda_graph_impl: local includes 'moe_preprocess'; "
               "name both"},
        Broken{{"training.cuda_graph_impl=local"},
               "cuda_graphs: none leaves cuda_graph_impl: local without effect; name what is "
               "captured"},
        Broken{{"training.cuda_graphs=[attn]", "training.recompute=selective", "model.dropout=0.1"},
               "cuda_graphs: 'attn' excludes recompute_modules: [core_attn] with dropout"},
        Broken{{"training.cuda_graphs=full_iteration"},
               "cuda_graphs: full_iteration needs check_gradients: false"},
        Broken{Experts({"training.cuda_graphs=full_iteration", "training.check_gradients=false"}),
               "cuda_graphs: full_iteration with experts needs moe_pad_to_capacity: true"},
        Broken{{"training.cuda_graphs=full_iteration", "training.check_gradients=false",
                "training.synchronous_timers=true"},
               "cuda_graphs: full_iteration excludes synchronous_timers"},
        Broken{{"training.cuda_graphs=full_iteration", "training.check_gradients=false",
                "parallel.pipeline=2"},
               "cuda_graphs: full_iteration with a pipeline needs overlap.p2p: true"}));

// Megatron-Core accepts such a job and warns.
TEST(GraphRules, GraphsKeepTheNormBeforeExperts) {
  const auto keeps = [](const Overrides& more) {
    return KeepsExpertNorm(
        TestJob(With(Experts({"training.kernels=fused", "training.recompute=selective",
                              "training.recompute_modules=[layernorm]"}),
                     more)));
  };
  const std::string both = "training.cuda_graphs=[moe_router, moe_preprocess]";
  EXPECT_FALSE(keeps({}));
  EXPECT_TRUE(keeps({"training.cuda_graphs=[moe_router]"}));
  EXPECT_FALSE(keeps({both}));
  EXPECT_TRUE(keeps({both, "training.moe_dispatcher=flex"}));
  EXPECT_FALSE(keeps({both, "training.moe_dispatcher=flex", "training.cuda_graph_impl=local"}));
}

}  // namespace
}  // namespace drydock
