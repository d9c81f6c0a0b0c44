// "How many tokens does the busiest rank of experts get?"
#include "workload-gen/routing/expert_loads.h"

#include "core/base/order_statistics.h"
#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

TrainingJob Job(std::vector<std::string> more) {
  std::vector<std::string> overrides = {
      "model.bias=false",        "model.experts=16",    "model.experts_per_token=4",
      "model.expert_ffn=64",     "parallel.pipeline=1", "parallel.sequence_parallel=true",
      "parallel.expert_tensor=1"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return TestJob(overrides);
}

double Resolved(std::vector<std::string> more) {
  TrainingJob job = Job(std::move(more));
  EXPECT_TRUE(ResolveExpertLoads(&job).ok());
  return job.training.moe.imbalance;
}

// A rank of 8 has 2 of 16 experts and sends 32 tokens to 4 experts each: 64 copies an expert.
TEST(ExpertLoads, ChanceAndVariationAddUp) {
  const TrainingJob job = Job({"parallel.expert=8"});
  EXPECT_DOUBLE_EQ(ImbalanceOf(job, 0), 1 + ExpectedMaxSigma(8) * std::sqrt(1.0 / 64 / 2));
  EXPECT_DOUBLE_EQ(ImbalanceOf(job, 0.3),
                   1 + ExpectedMaxSigma(8) * std::sqrt((0.09 + 1.0 / 64) / 2));
  EXPECT_EQ(ImbalanceOf(job, 10), 8) << "no rank gets more than all tokens";
}

// Tensor ranks have half the tokens each, and both send to each part of an expert.
TEST(ExpertLoads, ExpertTensorRanksSendToo) {
  const TrainingJob whole =
      Job({"parallel.expert=4", "parallel.tensor=1", "parallel.sequence_parallel=false"});
  const TrainingJob split =
      Job({"parallel.expert=4", "parallel.tensor=2", "parallel.expert_tensor=2"});
  EXPECT_EQ(ImbalanceOf(split, 0), ImbalanceOf(whole, 0));
}

TEST(ExpertLoads, LoadsThatChangeNothingAreRefused) {
  for (const char* more : {"parallel.expert=1", "training.moe_pad_to_capacity=true"}) {
    TrainingJob job = Job({"parallel.expert=4", "training.moe_capacity_factor=1",
                           "training.moe_expert_loads=random", more});
    EXPECT_FALSE(ResolveExpertLoads(&job).ok()) << more;
  }
}

TEST(ExpertLoads, OneRankHasTheMean) { EXPECT_EQ(ImbalanceOf(Job({"parallel.expert=1"}), 1), 1); }

TEST(ExpertLoads, NamesAreThoseOfTheFile) {
  EXPECT_EQ(Resolved({"parallel.expert=8"}), 1);
  EXPECT_EQ(Resolved({"parallel.expert=8", "training.moe_imbalance=1.5"}), 1.5);
  const double random = Resolved({"parallel.expert=8", "training.moe_expert_loads=random"});
  const double free = Resolved({"parallel.expert=8", "training.moe_expert_loads=aux-free"});
  const double loss = Resolved({"parallel.expert=8", "training.moe_expert_loads=aux-loss"});
  EXPECT_GT(random, 1.1);
  EXPECT_GT(free, random);
  EXPECT_GT(loss, free + 0.1);
}

TEST(ExpertLoads, AnUnknownNameGetsTheNearest) {
  TrainingJob job = Job({"parallel.expert=8", "training.moe_expert_loads=aux-los"});
  const Status status = ResolveExpertLoads(&job);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().ToString().find("did you mean 'aux-loss'?"), std::string::npos);
}

TEST(ExpertLoads, OnlyOneOfBothKeysCounts) {
  TrainingJob job = Job({"parallel.expert=8", "training.moe_expert_loads=random", "training.moe_imbalance=1.5"});
  const Status status = ResolveExpertLoads(&job);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().ToString().find("state one of the two keys"), std::string::npos);
}

}  // namespace
}  // namespace drydock
