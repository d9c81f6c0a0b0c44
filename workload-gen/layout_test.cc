#include "workload-gen/layout.h"

#include "workload-gen/test_support.h"

namespace drydock {
namespace {

std::string ErrorOf(const std::vector<std::string>& overrides, int hosts = 1, int gpus = 8) {
  const Result<Layout> layout = ResolveLayout(TestJob(overrides), TestTopology(hosts, gpus));
  return layout.ok() ? "" : layout.error().ToString();
}

TEST(Layout, DataParallelismTakesWhatTheClusterLeaves) {
  const Layout layout = TestLayout(TestJob(), /*hosts=*/2);
  EXPECT_EQ(layout.data, 4);
  EXPECT_EQ(layout.microbatches, 2);
  EXPECT_EQ(layout.layers_per_chunk, 4);
  EXPECT_EQ(layout.padded_vocab, 1024);
  EXPECT_EQ(layout.ToString(), "TP2 PP2 DP4, 2 micro-batches");
}

TEST(Layout, RanksInBothOrders) {
  Layout layout;
  layout.tensor = 2;
  layout.data = 3;
  layout.pipeline = 4;
  EXPECT_EQ(layout.RankOf(1, 2, 3), 1 + 2 * (2 + 3 * 3));
  EXPECT_EQ(layout.StageOf(layout.RankOf(1, 2, 3)), 3);
  layout.order = RankOrder::kTensorContextExpertPipelineData;
  EXPECT_EQ(layout.RankOf(1, 2, 3), 1 + 2 * (3 + 4 * 2));
  EXPECT_EQ(layout.StageOf(layout.RankOf(1, 2, 3)), 3);
}

TEST(Layout, VirtualStagesTakeEveryPipelinethBlockOfLayers) {
  const Layout layout = TestLayout(TestJob({"parallel.virtual_pipeline=2"}));
  EXPECT_EQ(layout.layers_per_chunk, 2);
  EXPECT_EQ(layout.FirstLayer(0, 0), 0);
  EXPECT_EQ(layout.FirstLayer(1, 0), 2);
  EXPECT_EQ(layout.FirstLayer(0, 1), 4);
  EXPECT_EQ(layout.FirstLayer(1, 1), 6);
  EXPECT_EQ(layout.ToString(), "TP2 PP2 (2 virtual) DP2, 4 micro-batches");
}

TEST(Layout, ProductMustBeTheClusters) {
  EXPECT_EQ(ErrorOf({"parallel.data=3"}),
            "--set parallel.data=3: error: tensor 2 x pipeline 2 x context 1 x data 3 = 12 GPUs, "
            "but the cluster has 8");
  EXPECT_EQ(ErrorOf({}, 3, 2),
            "test.yaml:16:1: error: tensor 2 x pipeline 2 x context 1 = 4 does not divide the "
            "cluster's 6 GPUs\n"
            "  parallel:\n"
            "  ^");
}

TEST(Layout, TensorParallelismStaysInAHost) {
  EXPECT_EQ(ErrorOf({"parallel.tensor=8", "parallel.pipeline=1"}, 2, 4),
            "--set parallel.tensor=8: error: tensor 8 is more than the 4 GPUs of a box host");
  EXPECT_EQ(ErrorOf({"parallel.tensor=4", "parallel.pipeline=1"}, 2, 6),
            "--set parallel.tensor=4: error: tensor 4 does not divide the 6 GPUs of a box host, so "
            "a tensor group would span hosts");
}

TEST(Layout, TensorParallelismDividesTheModel) {
  EXPECT_EQ(ErrorOf({"parallel.tensor=8", "parallel.pipeline=1", "model.heads=4"}),
            "--set parallel.tensor=8: error: heads 4 is not divisible by tensor 8");
  EXPECT_EQ(ErrorOf({"parallel.tensor=8", "parallel.pipeline=1", "model.kv_heads=4"}),
            "--set parallel.tensor=8: error: kv_heads 4 is not divisible by tensor 8");
  EXPECT_EQ(ErrorOf({"parallel.tensor=8", "parallel.pipeline=1", "model.ffn=100"}),
            "--set parallel.tensor=8: error: ffn 100 is not divisible by tensor 8");
  EXPECT_EQ(
      ErrorOf({"parallel.tensor=8", "parallel.pipeline=1", "model.hidden=60", "model.head_dim=8"}),
      "--set parallel.tensor=8: error: hidden 60 is not divisible by tensor 8");
  EXPECT_EQ(ErrorOf({"parallel.tensor=8", "parallel.pipeline=1", "model.sequence=36",
                     "parallel.sequence_parallel=true"}),
            "--set parallel.tensor=8: error: sequence 36 is not divisible by tensor 8");
}

TEST(Layout, StagesHoldEqualLayers) {
  EXPECT_EQ(ErrorOf({"model.layers=7"}),
            "test.yaml:18:13: error: layers 7 is not divisible by pipeline 2\n"
            "    pipeline: 2\n"
            "              ^");
  EXPECT_EQ(ErrorOf({"parallel.virtual_pipeline=3"}),
            "--set parallel.virtual_pipeline=3: error: layers 8 is not divisible by pipeline 2 x "
            "virtual_pipeline 3 = 6 stages");
  EXPECT_EQ(ErrorOf({"parallel.virtual_pipeline=2", "parallel.pipeline=1"}),
            "--set parallel.virtual_pipeline=2: error: virtual_pipeline 2 needs pipeline > 1");
}

TEST(Layout, BatchesComeOutWhole) {
  EXPECT_EQ(ErrorOf({"training.global_batch=18"}),
            "--set training.global_batch=18: error: global_batch 18 is not divisible by "
            "micro_batch 2 x data 2 = 4");
  EXPECT_EQ(ErrorOf({"parallel.virtual_pipeline=2", "training.global_batch=12"}),
            "--set parallel.virtual_pipeline=2: error: 3 micro-batches are not divisible by "
            "pipeline 2, which interleaving (virtual_pipeline 2) needs");
}

TEST(Layout, SeveralMistakesAreReportedTogether) {
  const Result<Layout> layout =
      ResolveLayout(TestJob({"model.layers=7", "parallel.data=3"}), TestTopology(1, 8));
  ASSERT_FALSE(layout.ok());
  EXPECT_EQ(layout.error().diagnostics().size(), 2u);
}

}  // namespace
}  // namespace drydock
