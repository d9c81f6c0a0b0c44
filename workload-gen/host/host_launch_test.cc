#include "workload-gen/host/host_launch.h"

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

std::string NameOf(const std::vector<std::string>& overrides) {
  const Result<HostLaunchSet> set = HostLaunchOf(TestJob(overrides));
  EXPECT_TRUE(set.ok()) << set.error().ToString();
  return set->launch.name;
}

TEST(HostLaunch, ASetNamesItsMeasurement) {
  EXPECT_EQ(NameOf({}), "transformer-engine");
  EXPECT_EQ(NameOf({"training.kernels=unfused"}), "eager");
  EXPECT_EQ(NameOf({"training.host_launch=none"}), "");
  EXPECT_NE(HostLaunchOf(TestJob())->measured.find("Transformer Engine 2.17"), std::string::npos);
}

// Costs of operators one by one, where a kernel does the work of many: the run would be too fast.
TEST(HostLaunch, CostsOfUnfusedKernelsAreRefusedWithFusedOnes) {
  std::string text = kTestJob;
  text.insert(text.find("  optimizer"), "  host_launch: eager\n");
  const Result<TrainingJob> job = ParseTrainingJob(text, "test.yaml", {});
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  const Result<HostLaunchSet> set = HostLaunchOf(*job);
  ASSERT_FALSE(set.ok());
  EXPECT_EQ(set.error().ToString(),
            "test.yaml:15:16: error: 'host_launch: eager' was measured with 'kernels: unfused' and "
            "charges too little with 'kernels: fused', where one kernel does the work of many; "
            "leave 'host_launch' out, or write 'kernels: unfused'\n"
            "    host_launch: eager\n"
            "                 ^");
  EXPECT_EQ(NameOf({"training.host_launch=eager", "training.kernels=unfused"}), "eager");
}

TEST(HostLaunch, ASetThatDoesNotExistHasANeighbor) {
  const Result<HostLaunchSet> set = HostLaunchOf(TestJob({"training.host_launch=eeger"}));
  ASSERT_FALSE(set.ok());
  EXPECT_NE(set.error().ToString().find("did you mean 'eager'?"), std::string::npos);
}

}  // namespace
}  // namespace drydock
