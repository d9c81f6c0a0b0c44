#include "core/schema/cluster/sharing_file.h"

#include <gtest/gtest.h>

#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

constexpr const char* kOwn = "sharing: {channel_sms: 1.5, staged_traffic: 0.5, source: measured}\n";

TEST(SharingFileTest, CostsComeFromTheGpuThenItsReference) {
  Topology topology;
  topology.gpus.resize(3);
  topology.gpus[0].file_text = std::string("gpu: {}\n") + kOwn;
  topology.gpus[1].file_text = topology.gpus[2].file_text = "gpu: {}\n";
  topology.gpus[1].reference_text = kOwn;
  const std::vector<SharingCosts> costs = SharingOf(topology);
  ASSERT_EQ(costs.size(), 3u);
  EXPECT_EQ(costs[0].channel_sms, 1.5);
  EXPECT_EQ(costs[0].staged_traffic, 0.5);
  EXPECT_EQ(costs[0].source, "measured");
  EXPECT_EQ(costs[1].channel_sms, 1.5);
  EXPECT_EQ(costs[2].channel_sms, 0);
  EXPECT_EQ(costs[2].staged_traffic, 0);
}

TEST(SharingFileTest, MistakesAreLocated) {
  SharingCosts costs;
  Diagnostics diagnostics;
  ReadSharing(ParseYaml("channel_sms: -1\nstaged_traffic: 3\n", "g").value(), &costs, &diagnostics);
  EXPECT_EQ(testing::ErrorText(diagnostics.ToStatus()),
            "g:1:14: error: 'channel_sms' is a number of SMs, from 0 to 2\n"
            "  channel_sms: -1\n"
            "               ^\n"
            "g:2:17: error: 'staged_traffic' is bytes of memory traffic per byte, from 0 to 2\n"
            "  staged_traffic: 3\n"
            "                  ^\n"
            "g:1:1: error: 'sharing' lacks the key 'source'\n"
            "  channel_sms: -1\n"
            "  ^");
}

}  // namespace
}  // namespace drydock
