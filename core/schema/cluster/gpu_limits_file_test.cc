#include "core/schema/cluster/gpu_limits_file.h"

#include <gtest/gtest.h>

#include "core/schema/testing/workload_testing.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::Replaced;

Result<ClusterInput> ClusterWith(const std::string& keys, bool stated = true) {
  auto files = testing::ToyFiles();
  if (stated) {
    files[0].second = Replaced(files[0].second, "sms: 4\n", "sms: 4\n  clock: 1830 MHz\n");
    files[0].second += "scaling: {power_limit: 700 W, source: made up}\n";
  }
  return ParseCluster(Replaced(testing::ToyClusterText(), "    gpus: 2\n", "    gpus: 2\n" + keys),
                      "toys.topo", files);
}

std::string ErrorWith(const std::string& keys, bool stated = true) {
  return testing::FirstLine(testing::ErrorText(ClusterWith(keys, stated)));
}

TEST(GpuLimits, AHostLimitsItsGpus) {
  const auto limits = [](const std::string& keys) {
    const Result<ClusterInput> cluster = ClusterWith(keys);
    EXPECT_TRUE(cluster.ok()) << cluster.error().ToString();
    return cluster->topology.host_kinds[0].limits;
  };
  EXPECT_EQ(limits(""), GpuLimits());
  EXPECT_EQ(limits("    power_limit: 500 W\n"), (GpuLimits{500, 0}));
  EXPECT_EQ(limits("    power_limit: 500W\n    clock_limit: 1410 MHz\n"), (GpuLimits{500, 1410}));
  EXPECT_EQ(limits("    power_limit: 175 W\n    clock_limit: 458 MHz\n"), (GpuLimits{175, 458}));
  EXPECT_EQ(limits("    power_limit: 700 W\n    clock_limit: 1830 MHz\n"), (GpuLimits{700, 1830}));
}

TEST(GpuLimits, RefusesWhatTheGpuDoesNotAllow) {
  EXPECT_EQ(ErrorWith("    power_limit: 500\n"),
            "toys.topo:6:18: error: expected a power like '500 W', found '500'");
  EXPECT_EQ(ErrorWith("    power_limit: 0.5 kW\n"),
            "toys.topo:6:18: error: expected a power like '500 W', found '0.5 kW'");
  EXPECT_EQ(
      ErrorWith("    power_limit: 701 W\n"),
      "toys.topo:6:18: error: 'power_limit' of the GPU 'toy' is from 175 to 700 W, not 701 W");
  EXPECT_EQ(
      ErrorWith("    power_limit: 100 W\n"),
      "toys.topo:6:18: error: 'power_limit' of the GPU 'toy' is from 175 to 700 W, not 100 W");
  EXPECT_EQ(ErrorWith("    clock_limit: 1.4 GHz\n"),
            "toys.topo:6:18: error: expected a clock like '1410 MHz', found '1.4 GHz'");
  EXPECT_EQ(ErrorWith("    clock_limit: 1980 MHz\n"),
            "toys.topo:6:18: error: 'clock_limit' of the GPU 'toy' is from 458 to 1830 MHz, not "
            "1980 MHz");
  EXPECT_EQ(ErrorWith("    power_limit: 500 W\n", false),
            "toys.topo:6:18: error: 'power_limit' needs the GPU's own: gpus/toy.yaml states no "
            "'power_limit' in 'scaling'");
  EXPECT_EQ(ErrorWith("    clock_limit: 1410 MHz\n", false),
            "toys.topo:6:18: error: 'clock_limit' needs the GPU's own: gpus/toy.yaml states no "
            "'clock' in 'gpu'");
}

}  // namespace
}  // namespace drydock
