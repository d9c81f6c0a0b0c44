// Folded replays over the fluid network: all replicas take the rate of the slowest.
#include "exec-engine/networks/fluid/fluid_folding.h"

#include <gtest/gtest.h>

#include <random>

#include "exec-engine/networks/fluid/fluid_network.h"
#include "exec-engine/replay/replay.h"
#include "exec-engine/testing/replica_testing.h"

namespace drydock {
namespace {

using testing::Counter;
using testing::Layout;
using testing::RandomLayout;
using testing::ReplicasOnOneSwitch;
using testing::ReplicasThatDiffer;
using testing::WorkloadBuilder;

Result<Timeline> OverFluid(const WorkloadBuilder& b, Fold fold) {
  ReplayOptions options;
  options.fold = fold;
  return Replay(b.workload, b.plan, b.times,
                {.name = "fluid",
                 .make = MakeFluidNetwork,
                 .make_folded = MakeFoldedFluidNetwork,
                 .merging = Merging::kLargest},
                options);
}

// Flows share the links of NICs only, so that all replicas have equal rates.
TEST(FluidFoldingTest, FlowsThatShareOnlyNicsTakeTheSameTimes) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    const Layout layout = RandomLayout(&random);
    const WorkloadBuilder b = ReplicasOnOneSwitch(layout, seed);
    const Result<Timeline> whole = OverFluid(b, Fold::kOff), folded = OverFluid(b, Fold::kRelaxed);
    ASSERT_TRUE(whole.ok()) << whole.error().ToString();
    ASSERT_TRUE(folded.ok()) << folded.error().ToString();
    EXPECT_EQ(Counter(*folded, "hosts replayed"), layout.stages);
    EXPECT_NEAR(folded->iteration.seconds() / whole->iteration.seconds(), 1, 1e-6) << seed;
    for (const char* counter : {"messages", "message bytes", "slices merged"}) {
      EXPECT_EQ(Counter(*folded, counter), Counter(*whole, counter)) << seed;
    }
  }
}

// If the paths of replicas differ, the slowest delays all.
TEST(FluidFoldingTest, ReplicasSendAtTheRateOfTheSlowest) {
  double sum = 0, min = 1, max = -1;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const Layout layout = RandomLayout(&random);
    const WorkloadBuilder b = ReplicasThatDiffer(layout, seed, static_cast<int>(seed % 2));
    const Result<Timeline> whole = OverFluid(b, Fold::kOff), folded = OverFluid(b, Fold::kRelaxed);
    ASSERT_TRUE(whole.ok()) << whole.error().ToString();
    ASSERT_TRUE(folded.ok()) << folded.error().ToString();
    EXPECT_EQ(Counter(*folded, "hosts replayed"), layout.stages);
    const double off = folded->iteration.seconds() / whole->iteration.seconds() - 1;
    min = std::min(min, off);
    max = std::max(max, off);
    sum += off;
  }
  EXPECT_GT(min, -0.035);
  EXPECT_LT(max, 0.06);
  EXPECT_LT(sum / 40, 0.01);
  EXPECT_GT(sum / 40, 0.001) << "no flows shared a link of the fabric";
}

TEST(FluidFoldingTest, AutoDoesNotFoldFewRanks) {
  const Result<Timeline> timeline = OverFluid(ReplicasOnOneSwitch(Layout(), 1), Fold::kAuto);
  ASSERT_TRUE(timeline.ok());
  EXPECT_EQ(Counter(*timeline, "hosts replayed"), -1);
}

TEST(FluidFoldingTest, ARunWithFaultsIsNotFolded) {
  WorkloadBuilder b = ReplicasOnOneSwitch(Layout(), 1);
  Fault fault;
  fault.at = Time::Us(10);
  fault.links = {0};
  fault.kind = Fault::Kind::kRate;
  fault.rate = Bandwidth::BitsPerSecond(1'000'000'000);
  b.workload.topology.faults = {fault};
  const Result<Timeline> timeline = OverFluid(b, Fold::kRelaxed);
  ASSERT_TRUE(timeline.ok());
  EXPECT_EQ(Counter(*timeline, "hosts replayed"), -1);
}

}  // namespace
}  // namespace drydock
