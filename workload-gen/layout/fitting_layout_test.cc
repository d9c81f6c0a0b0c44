#include "workload-gen/layout/fitting_layout.h"

#include <gtest/gtest.h>

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

constexpr OpenChoices kAll = {.tensor = true,
                              .pipeline = true,
                              .expert = true,
                              .recompute = true,
                              .batch = true,
                              .step_tokens = 1 << 12};

// A model of 16 GB; a rank has 4.
std::optional<std::string> FourGigabytes(const TrainingJob& job, const ParallelLayout& layout) {
  const double whole = job.training.recompute.granularity == Recompute::kFull ? 8 : 16;
  const double each = whole / (layout.tensor * layout.pipeline * layout.expert);
  return each <= 4 ? "" : std::to_string(each) + " of 4.0 GB";
}

std::string Chosen(const std::vector<std::string>& overrides, int hosts, int gpus,
                   OpenChoices open = kAll) {
  TrainingJob job = TestJob(overrides);
  job.training.recompute.granularity = Recompute::kNone;
  const Topology topology = TestTopology(hosts, gpus);
  const Status status = FitLayout(open, topology, FourGigabytes, &job);
  if (!status.ok()) return status.error().message();
  const Result<ParallelLayout> layout = ResolveLayout(job, topology);
  if (!layout.ok()) return layout.error().ToString();
  return layout->ToString() + " " + std::to_string(job.training.batch.global) +
         (job.training.recompute.granularity == Recompute::kFull ? " full" : "");
}

// The test job: 8 layers, 8 heads, sequences of 32, micro-batch 2. 4096 tokens are 128 sequences.
TEST(FittingLayout, TakesTheFewestRanksAndTensorParallelismInsideAHost) {
  EXPECT_EQ(Chosen({}, 2, 8), "TP4 PP1 DP4, sequence parallel, 16 micro-batches 128");
  EXPECT_EQ(Chosen({}, 8, 2), "TP2 PP2 DP4, sequence parallel, 16 micro-batches 128")
      << "tensor-parallel ranks do not leave a host";
  EXPECT_EQ(Chosen({"model.heads=1", "model.head_dim=8"}, 2, 8),
            "TP1 PP4 DP4, 16 micro-batches 128");
}

TEST(FittingLayout, KeepsWhatIsGiven) {
  OpenChoices open = kAll;
  open.tensor = false;
  EXPECT_EQ(Chosen({"parallel.tensor=2", "parallel.sequence_parallel=true"}, 2, 8, open),
            "TP2 PP2 DP4, sequence parallel, 16 micro-batches 128");
  open = kAll;
  open.batch = false;
  EXPECT_EQ(Chosen({"training.global_batch=8"}, 2, 8, open),
            "TP4 PP1 DP4, sequence parallel, 1 micro-batch 8");
}

TEST(FittingLayout, StagesMayDifferByALayer) {
  TrainingJob job = TestJob({"model.layers=7", "model.heads=1", "model.head_dim=8"});
  job.training.recompute.granularity = Recompute::kNone;
  const Topology topology = TestTopology(2, 8);
  ASSERT_TRUE(FitLayout(kAll, topology, FourGigabytes, &job).ok());
  EXPECT_EQ(job.parallel.pipeline, 4);
  EXPECT_EQ(job.parallel.layout, "Et|tt|tt|ttL");
  EXPECT_TRUE(ResolveLayout(job, topology).ok());
}

TEST(FittingLayout, RecomputesOnlyWhereNothingElseFits) {
  EXPECT_EQ(Chosen({}, 1, 2), "TP2 PP1 DP1, sequence parallel, 64 micro-batches 128 full");
}

TEST(FittingLayout, ExpertsStayInAHostWhileTheyFit) {
  const std::vector<std::string> experts = {"model.bias=false",
                                            "model.experts=8",
                                            "model.experts_per_token=2",
                                            "model.expert_ffn=64",
                                            "parallel.sequence_parallel=true",
                                            "parallel.expert_tensor=1"};
  EXPECT_EQ(Chosen(experts, 2, 8), "TP1 PP1 DP16 EP4, 4 micro-batches 128");
}

TEST(FittingLayout, SaysWhatIsMissing) {
  EXPECT_EQ(
      Chosen({"model.name=big"}, 1, 1),
      "no layout of big on these 1 GPUs fits their memory; the last of the 2 that were tried, "
      "TP1 PP1 DP1, 64 micro-batches, needs 8.000000 of 4.0 GB; give more GPUs, or less with "
      "--set (model.sequence, parallel.context, training.micro_batch)");
}

TEST(FittingLayout, LeavesAnImpossibleJobToResolveLayout) {
  OpenChoices open = kAll;
  open.tensor = false;
  EXPECT_NE(Chosen({"parallel.tensor=8", "model.heads=4", "model.head_dim=8"}, 1, 8, open)
                .find("tensor 8"),
            std::string::npos);
}

}  // namespace
}  // namespace drydock
