#include "exec-engine/collective-perf/process_launch.h"

#include <gtest/gtest.h>

#include "core/base/files.h"
#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

TEST(ProcessLaunch, ReadsTheTimeOfALaunch) {
  EXPECT_EQ(*ParseLaunchTime("nccl_tests: {launch: {time: 5 us, source: a}}", "n.yaml"),
            Time::Us(5));
  const std::string path = "configs/nccl-tests.yaml";
  EXPECT_GT(*ParseLaunchTime(*ReadFile(path), path), Time::Us(1));
}

TEST(ProcessLaunch, MistakesAreLocated) {
  EXPECT_EQ(
      ParseLaunchTime("nccl_tests: {launch: {time: 0 us, source: a}}", "n.yaml").error().ToString(),
      "n.yaml:1:29: error: 'time' must be more than 0 and at most a second\n"
      "  nccl_tests: {launch: {time: 0 us, source: a}}\n"
      "                              ^");
}

TEST(ProcessLaunch, ProcessesShareAHostEvenly) {
  const Topology topology = testing::SmallCluster(2, 4);
  const std::vector<Group> all = {{{0, 1, 2, 3, 4, 5, 6, 7}}}, six = {{{0, 1, 2, 3, 4, 5}}};
  for (const int gpus : {1, 2, 4}) EXPECT_TRUE(CheckProcesses(gpus, all, topology).ok()) << gpus;
  EXPECT_EQ(CheckProcesses(8, all, topology).error().message(),
            "-g 8: the 4 GPUs of host 0 cannot be divided among processes of 8; write a divisor of "
            "4");
  EXPECT_TRUE(CheckProcesses(2, six, topology).ok());
  EXPECT_EQ(CheckProcesses(4, six, topology).error().message(),
            "-g 4: the 2 GPUs of host 1 cannot be divided among processes of 4; write a divisor of "
            "2");
}

}  // namespace
}  // namespace drydock
