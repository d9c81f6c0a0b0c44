#include "exec-engine/host/jitter_draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "exec-engine/replay/accounting.h"
#include "exec-engine/replay/replay.h"
#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

using testing::SmallCluster;
using testing::WorkloadBuilder;

constexpr int kRanks = 100, kOps = 1000;

struct Moments {
  double mean = 0, deviation = 0, least = 1e300, most = 0;
};

Moments Of(const std::function<double(int rank, uint32_t op)>& draw) {
  double sum = 0, squares = 0;
  Moments out;
  for (int rank = 0; rank < kRanks; ++rank) {
    for (uint32_t op = 0; op < kOps; ++op) {
      const double x = draw(rank, op);
      sum += x;
      squares += x * x;
      out.least = std::min(out.least, x);
      out.most = std::max(out.most, x);
    }
  }
  out.mean = sum / (kRanks * kOps);
  out.deviation = std::sqrt(squares / (kRanks * kOps) - out.mean * out.mean);
  return out;
}

TEST(JitterDrawsTest, NoJitterChangesNothing) {
  const JitterDraws draws({});
  EXPECT_EQ(draws.ComputeTime(Time::Us(7), 3, 5), Time::Us(7));
  EXPECT_EQ(draws.CallDelay(3, 5), Time());
}

TEST(JitterDrawsTest, ComputeTimesAreNormal) {
  const JitterDraws draws({0.05, Time(), 1});
  const Moments of =
      Of([&](int rank, uint32_t op) { return draws.ComputeTime(Time::Us(100), rank, op).us(); });
  EXPECT_NEAR(of.mean, 100, 0.1);
  EXPECT_NEAR(of.deviation, 5, 0.1);
  EXPECT_NEAR(of.least, 85, 0.01) << "at most three deviations";
  EXPECT_NEAR(of.most, 115, 0.01);
}

TEST(JitterDrawsTest, DelaysAreExponential) {
  const JitterDraws draws({0, Time::Us(8), 1});
  const Moments of = Of([&](int rank, uint32_t op) { return draws.CallDelay(rank, op).us(); });
  EXPECT_NEAR(of.mean, 8, 0.1);
  EXPECT_NEAR(of.deviation, 8, 0.2);
  EXPECT_GE(of.least, 0);
}

TEST(JitterDrawsTest, DrawsDifferAndCanBeRepeated) {
  std::set<int64_t> drawn;
  for (const int64_t seed : {0, 1, 2}) {
    const JitterDraws draws({0.1, Time(), seed}), again({0.1, Time(), seed});
    for (int rank = 0; rank < 30; ++rank) {
      for (uint32_t op = 0; op < 30; ++op) {
        const Time time = draws.ComputeTime(Time::Us(1000), rank, op);
        EXPECT_EQ(time, again.ComputeTime(Time::Us(1000), rank, op));
        drawn.insert(time.ps());
      }
    }
  }
  EXPECT_GT(drawn.size(), 2680u) << "of 2700, a few of which are cut off";
}

// Two ranks that compute and then make an all-reduce.
WorkloadBuilder TwoRanks() {
  WorkloadBuilder b(SmallCluster(1, 2));
  const int compute = b.Stream("compute"), tp = b.Stream("tp");
  const int role = b.Role("tp", Dimension::kTensor, {{0, 1}});
  for (const int rank : {0, 1}) {
    const uint32_t work = b.Compute(rank, compute, Time::Us(1000));
    const uint32_t sum = b.Collective(rank, tp, role, CollectiveType::kAllReduce, 1 << 20, {work});
    b.Compute(rank, compute, Time::Us(1000), {sum});
  }
  b.PlanAll();
  return b;
}

Result<Timeline> ReplayWith(const WorkloadBuilder& b, const Variation& variation) {
  ReplayOptions options;
  options.variation = variation;
  return Replay(b.workload, b.plan, b.times, testing::Analytical(), options);
}

TEST(StragglerTest, OtherRanksWaitForASlowGpu) {
  const WorkloadBuilder b = TwoRanks();
  const Time alone = ReplayWith(b, {})->iteration;
  const Result<Timeline> timeline = ReplayWith(b, {{{Time(), 0, 1, 1.25}}, {}});
  ASSERT_TRUE(timeline.ok());
  EXPECT_EQ(timeline->iteration, alone + Time::Us(500));
  EXPECT_EQ(timeline->accounts[0].compute, Time::Us(2000));
  EXPECT_EQ(timeline->accounts[0].straggler, Time::Us(250)) << "before the all-reduce";
  EXPECT_NEAR(timeline->accounts[0].idle.us(), 250, 25) << "after its last op";
  EXPECT_EQ(timeline->accounts[1].compute, Time::Us(2500));
  EXPECT_EQ(timeline->accounts[1].straggler, Time());
  for (const TimeAccount& account : timeline->accounts) {
    EXPECT_EQ(Total(account), timeline->iteration);
  }
}

// The GPU is slow from 400 us until 1000 us. At 400 us, 600 us of work remain, which then take 1200
// us; at 1000 us, half of that work remains.
TEST(StragglerTest, AGpuMayBeSlowForSomeTime) {
  const Variation variation = {{{Time::Us(400), 0, -1, 2}, {Time::Us(1000), 0, -1, 1}}, {}};
  const Result<Timeline> timeline = ReplayWith(TwoRanks(), variation);
  ASSERT_TRUE(timeline.ok());
  for (const int rank : {0, 1}) {
    EXPECT_EQ(timeline->ranks[static_cast<size_t>(rank)].end[0], Time::Us(1300)) << rank;
  }
}

TEST(StragglerTest, RanksWaitForJitter) {
  const WorkloadBuilder b = TwoRanks();
  Variation variation = {{}, {0.1, Time::Us(20), 3}};
  const Result<Timeline> timeline = ReplayWith(b, variation), again = ReplayWith(b, variation);
  ASSERT_TRUE(timeline.ok() && again.ok());
  EXPECT_EQ(timeline->ranks[0].end, again->ranks[0].end);
  EXPECT_EQ(timeline->ranks[1].end, again->ranks[1].end);
  EXPECT_NE(timeline->ranks[0].end[0], timeline->ranks[1].end[0]);
  Time waited;
  for (const TimeAccount& account : timeline->accounts) {
    EXPECT_EQ(Total(account), timeline->iteration);
    EXPECT_GT(account.host, Time()) << "delays of calls";
    waited += account.straggler;
  }
  EXPECT_GT(waited, Time());
  variation.jitter.seed = 4;
  EXPECT_NE(ReplayWith(b, variation)->iteration, timeline->iteration);
}

}  // namespace
}  // namespace drydock
