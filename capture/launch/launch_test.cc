#include "capture/launch/launch.h"

#include <gtest/gtest.h>

#include "capture/launch/testing/launching.h"

namespace drydock::capture {
namespace {

TEST(CheckFits, NamesBothNumbers) {
  const ClusterSize cluster = {8, 8, "GPU", "", 0};
  Launch launch = LaunchOn("p", 128, 8);
  launch.launcher = "torchrun";
  EXPECT_EQ(
      CheckFits(launch, cluster, "c.topo").error().ToString(),
      "c.topo: error: torchrun starts 1024 ranks on 128 hosts, but the cluster has 8 hosts with "
      "64 GPUs; --set cluster.hosts=128 makes it larger");
  EXPECT_EQ(CheckFits(LaunchOn("p", 1, 16), cluster, "c.topo").error().ToString(),
            "c.topo: error: the program starts 16 ranks on a host, which has 8 GPUs");
  EXPECT_TRUE(CheckFits(LaunchOn("p", 8, 4), cluster, "c.topo").ok());
}

}  // namespace
}  // namespace drydock::capture
