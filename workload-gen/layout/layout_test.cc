#include "workload-gen/layout/layout.h"

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

std::string ErrorOf(const std::vector<std::string>& overrides, int hosts = 1, int gpus = 8) {
  const Result<ParallelLayout> layout =
      ResolveLayout(TestJob(overrides), TestTopology(hosts, gpus));
  return layout.ok() ? "" : layout.error().ToString();
}

TEST(Layout, DataParallelismUsesTheRemainingGpus) {
  const ParallelLayout layout = TestLayout(TestJob(), /*hosts=*/2);
  EXPECT_EQ(layout.data, 4);
  EXPECT_EQ(layout.microbatches, 2);
  EXPECT_EQ(layout.EndLayer(0, 0), 4);
  EXPECT_EQ(layout.padded_vocab, 1024);
  EXPECT_EQ(layout.ToString(), "TP2 PP2 DP4, 2 micro-batches");
}

TEST(Layout, RanksInBothOrders) {
  ParallelLayout layout;
  layout.tensor = 2;
  layout.data = 3;
  layout.pipeline = 4;
  EXPECT_EQ(layout.RankOf(1, 2, 3), 1 + 2 * (2 + 3 * 3));
  EXPECT_EQ(layout.StageOf(layout.RankOf(1, 2, 3)), 3);
  layout.order = RankOrder::kTensorContextExpertPipelineData;
  EXPECT_EQ(layout.RankOf(1, 2, 3), 1 + 2 * (3 + 4 * 2));
  EXPECT_EQ(layout.StageOf(layout.RankOf(1, 2, 3)), 3);
}

TEST(Layout, VirtualStagesAlternateOverTheStages) {
  const ParallelLayout layout = TestLayout(TestJob({"parallel.virtual_pipeline=2"}));
  EXPECT_EQ(layout.EndLayer(0, 0), 2);
  EXPECT_EQ(layout.FirstLayer(0, 0), 0);
  EXPECT_EQ(layout.FirstLayer(1, 0), 2);
  EXPECT_EQ(layout.FirstLayer(0, 1), 4);
  EXPECT_EQ(layout.FirstLayer(1, 1), 6);
  EXPECT_EQ(layout.ToString(), "TP2 PP2 (2 virtual) DP2, 4 micro-batches");
}

std::vector<int> LayersOfStages(const std::vector<std::string>& overrides) {
  const ParallelLayout layout = TestLayout(TestJob(overrides), 1, 8);
  std::vector<int> layers;
  for (int chunk = 0; chunk < layout.chunks; ++chunk) {
    for (int stage = 0; stage < layout.pipeline; ++stage) {
      layers.push_back(layout.EndLayer(stage, chunk) - layout.FirstLayer(stage, chunk));
    }
  }
  return layers;
}

TEST(Layout, EndsOfThePipelineMayHoldFewerLayers) {
  using Layers = std::vector<int>;
  const std::string four = "parallel.pipeline=4";
  EXPECT_EQ(LayersOfStages({four, "parallel.first_stage_layers=1", "parallel.last_stage_layers=3"}),
            (Layers{1, 2, 2, 3}));
  EXPECT_EQ(LayersOfStages({four, "parallel.last_stage_layers=2"}), (Layers{2, 2, 2, 2}));
  EXPECT_EQ(LayersOfStages({four, "model.layers=14", "parallel.account_for_embedding=true",
                            "parallel.account_for_loss=true", "parallel.virtual_pipeline=2"}),
            (Layers{1, 2, 2, 2, 2, 2, 2, 1}));
  EXPECT_EQ(LayersOfStages({"parallel.first_stage_layers=2", "parallel.virtual_pipeline=2"}),
            (Layers{1, 3, 1, 3}));
}

TEST(Layout, KeepsStatedStages) {
  using Layers = std::vector<int>;
  EXPECT_EQ(LayersOfStages({"parallel.layout=Et|t*5|tt|L"}), (Layers{1, 5, 2, 0}));
  EXPECT_EQ(LayersOfStages({"parallel.layout=E|t*8L"}), (Layers{0, 8}));
  EXPECT_EQ(TestLayout(TestJob({"parallel.layout=Ett|tt|tt|ttL"})).ToString(),
            "TP2 PP2 (2 virtual) DP2, 4 micro-batches");
}

std::string JobErrorOf(const std::vector<std::string>& overrides) {
  const Result<TrainingJob> job = ParseTrainingJob(kTestJob, "test.yaml", overrides);
  return job.ok() ? "" : job.error().ToString();
}

TEST(Layout, RejectsStatedStagesThatDoNotFit) {
  EXPECT_EQ(JobErrorOf({"parallel.layout=Ett|ttL"}),
            "--set parallel.layout=Ett|ttL: error: layout 'Ett|ttL': it has 4 t, but "
            "layers is 8; the nearest that works is 'Et*4|t*4L'");
  EXPECT_EQ(
      JobErrorOf({"parallel.layout=Et*4|d*4L"}),
      "--set parallel.layout=Et*4|d*4L: error: layout 'Et*4|d*4L': 'd' is not one of E, t, m, "
      "L, | and (...)*n (character 6); the nearest that works is 'Et*4|t*4L'");
  EXPECT_EQ(JobErrorOf({"parallel.layout=Et*4|t*4|L"}),
            "--set parallel.layout=Et*4|t*4|L: error: layout 'Et*4|t*4|L': it has 3 stages, which "
            "pipeline 2 does not divide; the nearest that works is 'Et*4|t*4L'");
  EXPECT_EQ(JobErrorOf({"parallel.layout=Ett|tt|tt|ttL", "parallel.virtual_pipeline=4"}),
            "--set parallel.virtual_pipeline=4: error: virtual_pipeline 4 x pipeline 2 = 8 stages, "
            "but layout has 4");
  EXPECT_EQ(JobErrorOf({"parallel.layout=Et*4|t*4L", "parallel.first_stage_layers=4"}),
            "--set parallel.first_stage_layers=4: error: 'layout' excludes 'first_stage_layers'");
}

TEST(Layout, RejectsUnevenStagesThatDoNotFit) {
  EXPECT_EQ(ErrorOf({"parallel.pipeline=4", "parallel.first_stage_layers=3"}),
            "--set parallel.first_stage_layers=3: error: layers 8 less first_stage_layers 3 and "
            "last_stage_layers 0 leave 5, which is not divisible over 3 other stages");
  EXPECT_EQ(ErrorOf({"parallel.account_for_loss=true"}),
            "test.yaml:18:13: error: layers 8 + 1 for the loss = 9 is not divisible by pipeline 2\n"
            "    pipeline: 2\n"
            "              ^");
  EXPECT_EQ(ErrorOf({"parallel.first_stage_layers=3", "parallel.virtual_pipeline=2"}),
            "--set parallel.virtual_pipeline=2: error: a stage of 3 layers is not divisible by "
            "virtual_pipeline 2");
}

const std::vector<std::string>& Mixture() {
  static const std::vector<std::string> overrides = {
      "model.bias=false",    "model.experts=8",     "model.experts_per_token=2",
      "model.expert_ffn=64", "parallel.pipeline=1", "parallel.sequence_parallel=true",
      "parallel.expert=4"};
  return overrides;
}

std::vector<std::string> With(std::vector<std::string> list, const std::string& more) {
  list.push_back(more);
  return list;
}

TEST(Layout, ExpertsHaveASeparateGrid) {
  const ParallelLayout whole = TestLayout(TestJob(Mixture()), 2, 8);
  EXPECT_EQ(whole.expert_tensor, 2);
  EXPECT_EQ(whole.expert_data(), 2);
  EXPECT_EQ(whole.ToString(), "TP2 PP1 DP8 EP4, sequence parallel, 1 micro-batch");
  const ParallelLayout split =
      TestLayout(TestJob(With(Mixture(), "parallel.expert_tensor=1")), 2, 8);
  EXPECT_EQ(split.expert_data(), 4);
  EXPECT_EQ(split.ExpertRankOf(6), 2);
  EXPECT_EQ(whole.ExpertRankOf(6), 3);
}

TEST(Layout, RejectsExpertsThatDoNotFit) {
  EXPECT_EQ(ErrorOf(With(Mixture(), "parallel.expert=8")),
            "--set parallel.expert=8: error: expert_tensor 2 x expert 8 x pipeline 1 = 16 does not "
            "divide the cluster's 8 GPUs");
  EXPECT_EQ(ErrorOf(With(With(Mixture(), "model.expert_ffn=66"), "parallel.expert_tensor=4")),
            "--set parallel.expert_tensor=4: error: expert_ffn 66 is not divisible by "
            "expert_tensor 4; the nearest that fits is 3");
  const auto low_latency = [](const std::string& more) {
    const auto flex =
        With(With(Mixture(), "training.moe_dispatcher=flex"), "parallel.expert_tensor=1");
    return ErrorOf(With(With(With(flex, "training.moe_grouped_kernel=one"), more),
                        "training.moe_deepep=low-latency"),
                   2, 8);
  };
  EXPECT_THAT(low_latency("model.hidden=1024"),
              ::testing::HasSubstr(
                  "--set training.moe_deepep=low-latency: error: 'low-latency' has kernels "
                  "for tokens of 2048, 2560, 4096, 5120, 6144, 7168, 8192 values, not 1024; "
                  "write 'normal'"));
  EXPECT_THAT(
      low_latency("parallel.expert_tensor=2"),
      ::testing::HasSubstr("--set training.moe_deepep=low-latency: error: 'low-latency' needs "
                           "expert_tensor 1, not 2: it sends a token to one rank for each expert"));
  EXPECT_EQ(ErrorOf(With(Mixture(), "training.moe_dispatcher=flex"), 2, 12),
            "--set training.moe_dispatcher=flex: error: dispatcher flex needs hosts of one size; "
            "expert 4 x expert_tensor 2 = 8 ranks must divide the GPUs of a host or be a multiple "
            "of them; a box host has 12 GPUs");
  EXPECT_EQ(ErrorOf({"model.bias=false", "model.experts=8", "model.experts_per_token=2",
                     "model.expert_ffn=64", "parallel.tensor=1", "parallel.expert=2",
                     "parallel.rank_order=tp-cp-ep-pp-dp"}),
            "--set parallel.rank_order=tp-cp-ep-pp-dp: error: with stages before data "
            "parallelism, tensor 1 x context 1 = 1 and expert_tensor 1 x expert 2 = 2 must be "
            "equal, so that all layers have the same stages");
}

TEST(Layout, ContextParallelismSplitsTheSequenceIntoTwoChunksPerRank) {
  const ParallelLayout layout =
      TestLayout(TestJob({"parallel.context=2", "parallel.pipeline=1"}), 1, 8);
  EXPECT_EQ(layout.gradient_ranks(), 4);
  EXPECT_EQ(layout.RankOf(1, 1, 0, 1), 7);
  EXPECT_EQ(layout.ToString(), "TP2 CP2 PP1 DP2, 4 micro-batches");
  EXPECT_EQ(
      ErrorOf({"parallel.context=2", "model.sequence=30"}),
      "--set parallel.context=2: error: sequence 30 is not divisible by 2 x context 2 chunks; "
      "the nearest context that fits is 1");
  EXPECT_EQ(ErrorOf({"parallel.context=8", "parallel.tensor=1", "parallel.pipeline=1",
                     "parallel.context_type=a2a", "model.kv_heads=4"}),
            "--set parallel.context_type=a2a: error: kv_heads 4 is not divisible by tensor 1 x "
            "context 8, which context_type a2a splits them over");
}

TEST(Layout, LevelsOfContextParallelism) {
  const std::vector<std::string> levels = {"parallel.context=8", "parallel.tensor=1",
                                           "parallel.pipeline=1", "parallel.context_type=a2a+p2p"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = levels;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const ParallelLayout layout = TestLayout(TestJob(with({"parallel.context_heads=2"})), 1, 8);
  EXPECT_EQ(layout.context_ring(), 4);
  EXPECT_EQ(layout.ToString(), "TP1 CP8 (2 x 4) PP1 DP1, 8 micro-batches");
  EXPECT_EQ(ErrorOf(levels),
            "--set parallel.context_type=a2a+p2p: error: context_type a2a+p2p needs "
            "context_heads: the ranks that exchange heads");
  EXPECT_EQ(ErrorOf(with({"parallel.context_heads=8"})),
            "--set parallel.context_heads=8: error: context_heads 8 leaves no ring of context 8; "
            "give a smaller divisor of context, or context_type a2a");
  EXPECT_EQ(ErrorOf(with({"parallel.context_heads=5"})),
            "--set parallel.context_heads=5: error: context_heads 5 does not divide context 8; the "
            "nearest that does is 4");
  EXPECT_EQ(ErrorOf(with({"parallel.context_heads=4", "model.kv_heads=2"})),
            "--set parallel.context_heads=4: error: kv_heads 2 is not divisible by tensor 1 x "
            "context_heads 4, which context_type a2a+p2p splits them over");
}

TEST(Layout, ProductOfDegreesMustMatchTheCluster) {
  EXPECT_EQ(ErrorOf({"parallel.data=3"}),
            "--set parallel.data=3: error: tensor 2 x pipeline 2 x context 1 x data 3 = 12 GPUs, "
            "but the cluster has 8");
  EXPECT_EQ(ErrorOf({}, 3, 2),
            "test.yaml:16:1: error: tensor 2 x pipeline 2 x context 1 = 4 does not divide the "
            "cluster's 6 GPUs\n"
            "  parallel:\n"
            "  ^");
}

TEST(Layout, TensorParallelismMaySpanHosts) {
  EXPECT_EQ(ErrorOf({"parallel.tensor=8", "parallel.pipeline=1"}, 2, 4), "");
}

TEST(Layout, TensorParallelismDividesTheModel) {
  EXPECT_EQ(ErrorOf({"parallel.tensor=8", "parallel.pipeline=1", "model.heads=4"}),
            "--set parallel.tensor=8: error: heads 4 is not divisible by tensor 8");
  EXPECT_EQ(ErrorOf({"parallel.tensor=8", "parallel.pipeline=1", "model.heads=24",
                     "model.head_dim=8", "model.kv_heads=12"}),
            "--set parallel.tensor=8: error: kv_heads 12 is neither divisible by tensor 8 nor "
            "divides it");
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

TEST(Layout, BatchMustDivideIntoMicrobatches) {
  EXPECT_EQ(ErrorOf({"training.global_batch=18"}),
            "--set training.global_batch=18: error: global_batch 18 is not divisible by "
            "micro_batch 2 x data 2 = 4");
  EXPECT_EQ(ErrorOf({"parallel.virtual_pipeline=2", "training.global_batch=12"}),
            "--set parallel.virtual_pipeline=2: error: 3 micro-batches are not divisible by "
            "pipeline 2, which interleaving (virtual_pipeline 2) needs");
}

TEST(Layout, SeveralMistakesAreReportedTogether) {
  const Result<ParallelLayout> layout =
      ResolveLayout(TestJob({"model.layers=7", "parallel.data=3"}), TestTopology(1, 8));
  ASSERT_FALSE(layout.ok());
  EXPECT_EQ(layout.error().diagnostics().size(), 2u);
}

}  // namespace
}  // namespace drydock
