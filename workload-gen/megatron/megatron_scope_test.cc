#include "workload-gen/megatron/megatron_scope.h"

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

TEST(MegatronScope, AcceptsGeneratedFeatures) {
  EXPECT_TRUE(CheckMegatronScope(TestJob()).ok());
  EXPECT_TRUE(CheckMegatronScope(TestJob({"training.recompute=selective"})).ok());
  EXPECT_TRUE(CheckMegatronScope(TestJob({"model.window=64"})).ok()) << "longer than the sequence";
}

TEST(MegatronScope, ReportsOtherFeaturesAtTheirKeys) {
  const Status status = CheckMegatronScope(
      TestJob({"model.mtp_layers=1", "model.patch_features=768", "model.tied_embedding=false",
               "model.window=8", "parallel.context=2", "parallel.context_type=p2p"}));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(
      status.error().ToString(),
      "--set model.mtp_layers=1: error: multi-token prediction with learned positions or "
      "dropout is not generated for framework megatron\n"
      "--set model.patch_features=768: error: an embedding of patches with split sequences or "
      "multi-token prediction is not generated for framework megatron\n"
      "--set parallel.context_type=p2p: error: a sliding window with a ring of keys "
      "(context_type p2p or a2a+p2p) is not generated for framework megatron");
}

TEST(MegatronScope, RejectsFeaturesThatDispatchersLack) {
  const auto refused = [](const std::string& dispatcher, const std::string& more) {
    return !CheckMegatronScope(
                TestJob({"model.bias=false", "model.experts=8", "model.experts_per_token=2",
                         "parallel.tensor=1", "parallel.expert=2",
                         "training.moe_dispatcher=" + dispatcher, more}))
                .ok();
  };
  EXPECT_FALSE(refused("flex", "training.moe_imbalance=1.5"));
  EXPECT_FALSE(refused("hybridep", "training.moe_imbalance=1.5"));
  EXPECT_TRUE(refused("flex", "training.moe_capacity_factor=1"));
  EXPECT_TRUE(refused("allgather", "training.moe_capacity_factor=1"));
  EXPECT_FALSE(refused("allgather", "training.moe_imbalance=1.5"));
  EXPECT_FALSE(refused("alltoall", "training.moe_capacity_factor=1"));
}

}  // namespace
}  // namespace drydock
