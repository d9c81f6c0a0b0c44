#include "workload-gen/megatron_scope.h"

#include "workload-gen/test_support.h"

namespace drydock {
namespace {

TEST(MegatronScope, TakesWhatItGenerates) {
  EXPECT_TRUE(CheckMegatronScope(TestJob()).ok());
  EXPECT_TRUE(CheckMegatronScope(TestJob({"training.recompute=selective"})).ok());
  EXPECT_TRUE(CheckMegatronScope(TestJob({"model.window=64"})).ok()) << "longer than the sequence";
}

TEST(MegatronScope, RefusesTheRestAtItsPlace) {
  const Status status = CheckMegatronScope(
      TestJob({"model.mtp_layers=1", "model.patch_features=768", "model.tied_embedding=false"}));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(
      status.error().ToString(),
      "--set model.mtp_layers=1: error: multi-token prediction is not generated for framework "
      "megatron\n"
      "--set model.patch_features=768: error: an embedding of patches is not generated for "
      "framework megatron");
}

}  // namespace
}  // namespace drydock
