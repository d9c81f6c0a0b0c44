// Replays small random training runs, whose rings collide between leaves and a spine, over the
// fluid and the packet network, host by host and with folding, and compares the times.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "exec-engine/command/choices.h"
#include "exec-engine/replay/replay.h"
#include "exec-engine/testing/replica_testing.h"

namespace drydock {
namespace {

constexpr uint32_t kSeeds = 40;

// Statistics of relative differences.
struct Spread {
  double sum = 0, size = 0, most = 0;
  void Add(double difference) {
    sum += difference / kSeeds;
    size += std::abs(difference) / kSeeds;
    most = std::max(most, std::abs(difference));
  }
};

double Seconds(const testing::WorkloadBuilder& b, const char* network, Fold fold) {
  ReplayOptions options;
  options.fold = fold;
  const Result<Timeline> timeline =
      Replay(b.workload, b.plan, b.times, **FindNetwork(network), options);
  EXPECT_TRUE(timeline.ok()) << (timeline.ok() ? "" : timeline.error().ToString());
  return timeline.ok() ? timeline->iteration.seconds() : 0;
}

TEST(FluidReplayTest, IsNearThePacketNetwork) {
  Spread whole, folded;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    const testing::Layout layout = testing::RandomLayout(&random);
    const auto b = testing::ReplicasThatDiffer(layout, seed, static_cast<int>(seed % 2));
    const double packets = Seconds(b, "packet", Fold::kOff);
    ASSERT_GT(packets, 0);
    whole.Add(Seconds(b, "fluid", Fold::kOff) / packets - 1);
    folded.Add(Seconds(b, "fluid", Fold::kRelaxed) / packets - 1);
  }
  for (const auto& [name, of] : {std::pair("whole", whole), std::pair("folded", folded)}) {
    RecordProperty(name,
                   fmt::format("mean {:+.5f} size {:.5f} most {:.5f}", of.sum, of.size, of.most));
  }
  EXPECT_LT(whole.size, 0.004);
  EXPECT_LT(std::abs(whole.sum), 0.002);
  EXPECT_LT(whole.most, 0.02);
  EXPECT_LT(folded.size, 0.012);
  EXPECT_LT(std::abs(folded.sum), 0.01);
  EXPECT_LT(folded.most, 0.08);
}

}  // namespace
}  // namespace drydock
