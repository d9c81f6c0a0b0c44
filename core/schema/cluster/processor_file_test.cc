#include "core/schema/cluster/processor_file.h"

#include <gtest/gtest.h>

#include "core/model/topology.h"
#include "core/schema/testing/workload_testing.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

double SpeedWith(const std::string& board) {
  const std::string text = testing::Replaced(testing::ToyClusterText(), "gpus: 2",
                                             "gpus: 2\n    board: {" + board + "}");
  const auto cluster = ParseCluster(text, "toys.topo", testing::ToyFiles());
  EXPECT_TRUE(cluster.ok()) << cluster.error().ToString();
  return cluster->topology.host_kinds[0].board.launch_speed;
}

TEST(ProcessorFileTest, AHostLaunchesAsFastAsItsProcessorUnlessTheClusterSaysOtherwise) {
  const auto speeds = LoadLaunchSpeeds();
  ASSERT_TRUE(speeds.ok()) << speeds.error().ToString();
  EXPECT_EQ(speeds->size(), CpuNames().size());
  EXPECT_EQ(speeds->at("epyc"), 1) << "the costs of host-launch.yaml hold for this processor";
  EXPECT_EQ(SpeedWith("cpu: xeon-sapphire-rapids"), speeds->at("xeon-sapphire-rapids"));
  EXPECT_EQ(SpeedWith("cpu: xeon-sapphire-rapids, launch_speed: 0.5"), 0.5);
}

TEST(ProcessorFileTest, SaysWhatIsWrongAndWhere) {
  const auto error = [](const std::string& epyc) {
    return testing::FirstLine(
        testing::ErrorText(ParseProcessorFile("processors: {epyc: " + epyc + "}\n", "p")));
  };
  EXPECT_EQ(error("{launch_speed: 0, source: x}"),
            "p:1:35: error: 'launch_speed' is a factor, from 0.05 to 100");
  EXPECT_EQ(error("{launch_speed: 1}"), "p:1:20: error: 'epyc' lacks the key 'source'");
}

}  // namespace
}  // namespace drydock
