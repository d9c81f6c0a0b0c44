// Is a folded replay equal to the whole one: to the picosecond if hosts are equivalent, within a
// bound if they differ a little?
#include "exec-engine/folding/replica_folding.h"

#include <gtest/gtest.h>

#include <random>

#include "exec-engine/networks/fluid/fluid_network.h"
#include "exec-engine/replay/replay.h"
#include "exec-engine/testing/replica_testing.h"

namespace drydock {
namespace {

using testing::Analytical;
using testing::Counter;
using testing::Layout;
using testing::RandomLayout;
using testing::ReplicasOnOneSwitch;
using testing::ReplicasThatDiffer;
using testing::WorkloadBuilder;

void ExpectSameRanks(const Timeline& a, const Timeline& b) {
  EXPECT_EQ(a.iteration, b.iteration);
  EXPECT_EQ(a.stopped, b.stopped);
  EXPECT_EQ(a.ops_ended, b.ops_ended);
  EXPECT_EQ(a.iterations, b.iterations);
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  for (size_t rank = 0; rank < a.ranks.size(); ++rank) {
    EXPECT_TRUE(a.ranks[rank].start == b.ranks[rank].start) << rank;
    EXPECT_TRUE(a.ranks[rank].ready == b.ranks[rank].ready) << rank;
    EXPECT_TRUE(a.ranks[rank].end == b.ranks[rank].end) << rank;
    EXPECT_EQ(a.accounts[rank].compute, b.accounts[rank].compute);
    EXPECT_EQ(a.accounts[rank].idle, b.accounts[rank].idle);
  }
}

Result<Timeline> Folded(const WorkloadBuilder& b, Fold fold, ReplayOptions options = {}) {
  options.fold = fold;
  return Replay(b.workload, b.plan, b.times, Analytical(), options);
}

TEST(ReplicaFoldingTest, ExactFoldingGivesTheSameTimesToThePicosecond) {
  int64_t replayed = 0, hosts = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const Layout layout = RandomLayout(&random);
    const WorkloadBuilder b = ReplicasOnOneSwitch(layout, seed);
    ReplayOptions options;
    options.iterations = seed % 4 == 0 ? 2 : 1;
    if (seed % 4 == 1) options.until = Time::Us(900);
    if (seed % 3 == 0) options.variation.slow_gpus = {{Time::Us(100), 1, 0, 1.5}};
    const Result<Timeline> whole = Folded(b, Fold::kOff, options),
                           folded = Folded(b, Fold::kExact, options);
    ASSERT_TRUE(whole.ok()) << whole.error().ToString();
    ASSERT_TRUE(folded.ok()) << folded.error().ToString();
    ExpectSameRanks(*whole, *folded);
    for (const auto& [name, value] : whole->counters) {
      EXPECT_EQ(value, Counter(*folded, name)) << name << " of " << seed;
    }
    if (seed % 3 != 0) {
      EXPECT_EQ(Counter(*folded, "hosts replayed"), layout.stages) << seed;
    }
    replayed += std::max<int64_t>(Counter(*folded, "hosts replayed"), 0);
    hosts += layout.hosts();
  }
  EXPECT_LT(replayed, hosts / 2);
}

// Of iterations of one or two milliseconds over racks that a spine joins. Where queue pairs are
// hashed onto the spine's cables, a folded connection waits for all that it represents.
TEST(ReplicaFoldingTest, RelaxedFoldingStaysWithinItsBound) {
  constexpr double kBound = 0.005, kBoundOfCollisions = 0.06, kMeanOfCollisions = 0.008;
  double worst = 0, collisions = 0;
  int64_t uneven = 0, mean = 0, spread = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const Layout layout = RandomLayout(&random);
    WorkloadBuilder b = ReplicasThatDiffer(layout, seed, static_cast<int>(seed % 2));
    const auto error = [&b] {
      const Result<Timeline> of_all = Folded(b, Fold::kOff), of_one = Folded(b, Fold::kRelaxed);
      return std::abs(of_one->iteration.seconds() / of_all->iteration.seconds() - 1);
    };
    const double hashed = error();
    EXPECT_LT(hashed, kBoundOfCollisions) << seed;
    collisions += hashed / 40;
    b.workload.topology.fabric.routing = Routing::kSpray;
    const Result<Timeline> whole = Folded(b, Fold::kOff), exact = Folded(b, Fold::kExact),
                           folded = Folded(b, Fold::kRelaxed);
    ASSERT_TRUE(whole.ok()) << whole.error().ToString();
    ASSERT_TRUE(exact.ok() && folded.ok());
    ExpectSameRanks(*whole, *exact);
    EXPECT_EQ(Counter(*exact, "hosts replayed"), -1) << "all hosts differ";
    EXPECT_EQ(Counter(*folded, "hosts replayed"), layout.stages);
    EXPECT_EQ(Counter(*folded, "messages"), Counter(*whole, "messages"));
    EXPECT_NEAR(static_cast<double>(Counter(*folded, "message bytes")),
                static_cast<double>(Counter(*whole, "message bytes")), 1e5);
    const double off = folded->iteration.seconds() / whole->iteration.seconds() - 1;
    EXPECT_LT(std::abs(off), kBound) << seed;
    worst = std::max(worst, std::abs(off));
    uneven += Counter(*folded, "uneven calls");
    spread += Counter(*folded, "calls spread");
    mean += Counter(*folded, "ways taken as their mean");
  }
  EXPECT_LT(collisions, kMeanOfCollisions);
  RecordProperty("worst", std::to_string(worst));
  EXPECT_GT(worst, 0);
  EXPECT_EQ(uneven, 40);
  EXPECT_GT(spread, 100);
  EXPECT_GT(mean, 100);
}

TEST(ReplicaFoldingTest, AutoIsRelaxedWhereExactFoldingLeavesManyRanks) {
  const auto hosts_of = [](const WorkloadBuilder& b, bool* relaxed) {
    const Result<Timeline> timeline = Folded(b, Fold::kAuto);
    EXPECT_TRUE(timeline.ok());
    *relaxed = Counter(*timeline, "uneven calls") >= 0;
    return Counter(*timeline, "hosts replayed");
  };
  Layout many, few;
  many.data = 16;  // 128 ranks
  few.data = 15;
  bool relaxed = false;
  EXPECT_EQ(hosts_of(ReplicasThatDiffer(many, 1, 1), &relaxed), 2);
  EXPECT_TRUE(relaxed);
  EXPECT_EQ(hosts_of(ReplicasThatDiffer(few, 1, 1), &relaxed), -1);
  EXPECT_EQ(hosts_of(ReplicasOnOneSwitch(many, 1), &relaxed), 2);
  EXPECT_FALSE(relaxed) << "exact folding leaves two hosts";
}

TEST(ReplicaFoldingTest, JitterMakesAllHostsDiffer) {
  WorkloadBuilder b = ReplicasOnOneSwitch(Layout(), 1);
  ReplayOptions options;
  options.variation.jitter.compute = 0.1;
  const Result<Timeline> timeline = Folded(b, Fold::kRelaxed, options);
  ASSERT_TRUE(timeline.ok());
  EXPECT_EQ(Counter(*timeline, "hosts replayed"), -1);
}

TEST(ReplicaFoldingTest, ANetworkThatCannotFoldReplaysAllHosts) {
  WorkloadBuilder b = ReplicasOnOneSwitch(Layout(), 1);
  ReplayOptions options;
  options.fold = Fold::kRelaxed;
  const Result<Timeline> timeline =
      Replay(b.workload, b.plan, b.times, {.name = "fluid", .make = MakeFluidNetwork}, options);
  ASSERT_TRUE(timeline.ok());
  EXPECT_EQ(Counter(*timeline, "hosts replayed"), -1);
}

// The first stage sends one message fewer than the second waits for.
TEST(ReplicaFoldingTest, ADeadlockIsReportedForAllHosts) {
  WorkloadBuilder b = ReplicasOnOneSwitch(Layout(), 1);
  Program& first = b.workload.programs[0];
  while (first.ops.back().kind != OpKind::kSend) first.ops.pop_back();
  first.ops.pop_back();
  first.dependency_begin.resize(first.ops.size() + 1);
  first.dependency.resize(first.dependency_begin.back());
  const Result<Timeline> whole = Folded(b, Fold::kOff), folded = Folded(b, Fold::kExact);
  ASSERT_FALSE(whole.ok());
  ASSERT_FALSE(folded.ok());
  EXPECT_EQ(whole.error().ToString(), folded.error().ToString());
}

}  // namespace
}  // namespace drydock
