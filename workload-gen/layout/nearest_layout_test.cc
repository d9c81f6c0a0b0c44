#include "workload-gen/layout/nearest_layout.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

std::optional<std::string> Fits(const TrainingJob&, const ParallelLayout&) { return ""; }

std::string Nearest(const std::vector<std::string>& overrides, int hosts = 1, int gpus = 8,
                    const MemoryMistake& memory = Fits) {
  return NearestLayout(TestJob(overrides), TestTopology(hosts, gpus), memory).settings;
}

// The test job: 8 layers, 8 heads, tensor 2, pipeline 2, micro-batch 2, global batch 16.
TEST(NearestLayout, ChangesOneDegreeWhereThatIsEnough) {
  EXPECT_EQ(Nearest({"parallel.tensor=3"}), "--set parallel.tensor=4");
  EXPECT_EQ(Nearest({"parallel.pipeline=3"}), "--set parallel.pipeline=4");
  EXPECT_EQ(
      Nearest({"parallel.tensor=8", "model.heads=4", "model.head_dim=8", "parallel.pipeline=1"}),
      "--set parallel.tensor=4");
  EXPECT_EQ(Nearest({"parallel.virtual_pipeline=3"}), "--set parallel.virtual_pipeline=2");
  EXPECT_EQ(Nearest({"parallel.context=2", "model.sequence=30"}), "--set parallel.context=1");
}

TEST(NearestLayout, LeavesDataParallelismToTheCluster) {
  EXPECT_EQ(Nearest({"parallel.data=3"}), "--set parallel.data=auto");
}

TEST(NearestLayout, RoundsTheBatch) {
  EXPECT_EQ(Nearest({"training.global_batch=18"}), "--set training.global_batch=20");
  EXPECT_EQ(Nearest({"training.global_batch=12", "parallel.virtual_pipeline=2"}),
            "--set training.global_batch=16");
}

TEST(NearestLayout, StagesFollowTheLayers) {
  EXPECT_EQ(Nearest({"model.layers=7"}), "--set parallel.pipeline=1");
  EXPECT_EQ(Nearest({"model.layers=7", "parallel.virtual_pipeline=2"}),
            "--set parallel.pipeline=1 --set parallel.virtual_pipeline=1");
}

TEST(NearestLayout, KeepsStatedStages) {
  EXPECT_EQ(Nearest({"parallel.layout=Ett|tt|tt|ttL", "parallel.tensor=8"}),
            "--set parallel.tensor=4");
  EXPECT_EQ(
      Nearest({"parallel.layout=Et|t|t|t|t|t|t|tL", "parallel.tensor=1", "parallel.pipeline=8"}, 1,
              4),
      "--set parallel.pipeline=4 --set parallel.virtual_pipeline=2");
}

TEST(NearestLayout, ExpertsFollowTheirNumber) {
  const std::vector<std::string> experts = {
      "model.bias=false",    "model.experts=8",     "model.experts_per_token=2",
      "model.expert_ffn=64", "parallel.pipeline=1", "parallel.sequence_parallel=true",
      "parallel.expert=8"};
  EXPECT_EQ(Nearest(experts), "--set parallel.expert=4");
}

TEST(NearestLayout, SuggestionsWork) {
  const Topology topology = TestTopology(2, 8);
  for (const char* wrong : {"parallel.tensor=3", "parallel.pipeline=5", "parallel.data=7",
                            "training.global_batch=17", "model.layers=6"}) {
    const TrainingJob job = TestJob({wrong});
    if (ResolveLayout(job, topology).ok()) continue;
    std::vector<std::string> overrides = {wrong};
    std::string text = NearestLayout(job, topology, Fits).settings;
    for (size_t at = 0; (at = text.find("--set ", at)) != std::string::npos;) {
      at += 6;
      overrides.push_back(text.substr(at, text.find(' ', at) - at));
    }
    EXPECT_TRUE(ResolveLayout(TestJob(overrides), topology).ok()) << wrong << ": " << text;
  }
}

TEST(NearestLayout, EndsTheLastError) {
  const Result<ParallelLayout> layout =
      ResolveLayoutOrSuggest(TestJob({"parallel.pipeline=3"}), TestTopology(1, 8), Fits);
  ASSERT_FALSE(layout.ok());
  EXPECT_EQ(layout.error().ToString(),
            "--set parallel.pipeline=3: error: layers 8 is not divisible by pipeline 3\n"
            "test.yaml:16:1: error: tensor 2 x pipeline 3 x context 1 = 6 does not divide the "
            "cluster's 8 GPUs; the nearest layout that works: --set parallel.pipeline=4\n"
            "  parallel:\n"
            "  ^");
  EXPECT_TRUE(ResolveLayoutOrSuggest(TestJob(), TestTopology(1, 8), Fits).ok());
}

TEST(NearestLayout, PrefersWhatFitsTheMemory) {
  const auto four_gpus = [](const TrainingJob&, const ParallelLayout& layout) {
    return std::optional<std::string>(layout.tensor * layout.pipeline >= 8 ? "" : "9.0 of 8.0 GB");
  };
  EXPECT_EQ(Nearest({"parallel.tensor=3"}), "--set parallel.tensor=4");
  EXPECT_EQ(Nearest({"parallel.pipeline=3"}, 1, 8, four_gpus), "--set parallel.pipeline=4");
  EXPECT_EQ(Nearest({"parallel.pipeline=3", "parallel.tensor=1"}, 1, 8, four_gpus),
            "--set parallel.pipeline=8");
  // A framework need not generate a layout.
  const auto no_pipeline = [](const TrainingJob&, const ParallelLayout& layout) {
    return layout.pipeline > 1 ? std::nullopt : std::optional<std::string>("");
  };
  EXPECT_EQ(Nearest({"parallel.tensor=3"}, 1, 8, no_pipeline),
            "--set parallel.tensor=4 --set parallel.pipeline=1");
}

TEST(NearestLayout, SaysIfNoneFitsTheMemory) {
  int weighed = 0;
  const auto none = [&weighed](const TrainingJob&, const ParallelLayout& layout) {
    ++weighed;
    return std::optional<std::string>(fmt::format("{}.0 of 8.0 GB", 64 / layout.tensor));
  };
  const Result<ParallelLayout> layout =
      ResolveLayoutOrSuggest(TestJob({"parallel.tensor=3"}), TestTopology(1, 8), none);
  ASSERT_FALSE(layout.ok());
  EXPECT_LE(weighed, kMaxWeighed);
  EXPECT_THAT(layout.error().diagnostics().back().message,
              testing::EndsWith(fmt::format("; of the {} nearest layouts that work otherwise, none "
                                            "fits the memory: --set parallel.tensor=4 needs 16.0 "
                                            "of 8.0 GB",
                                            weighed)));
}

TEST(NearestLayout, FallsBackToDataParallelism) {
  EXPECT_EQ(Nearest({"model.hidden=63", "model.head_dim=8", "model.heads=7", "model.layers=7"}),
            "--set parallel.tensor=1 --set parallel.pipeline=1");
}

// The search is bounded for large degrees and clusters too.
TEST(NearestLayout, LargeClusters) {
  EXPECT_EQ(
      Nearest({"parallel.tensor=8", "parallel.pipeline=7", "training.global_batch=4096"}, 12500, 8),
      "--set parallel.pipeline=4 --set training.global_batch=6250");
}

}  // namespace
}  // namespace drydock
