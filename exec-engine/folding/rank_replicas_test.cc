// Are replicas found inside NVLink domains, and is a replay of one replica equal to the whole one?
#include "exec-engine/folding/rank_replicas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "exec-engine/replay/replay.h"
#include "exec-engine/testing/pipeline_testing.h"
#include "exec-engine/testing/replica_testing.h"

namespace drydock {
namespace {

using testing::Analytical;
using testing::Counter;
using testing::Layout;
using testing::ReplicasInDomains;
using testing::ReplicasOnOneSwitch;
using testing::WorkloadBuilder;

Result<Timeline> Replayed(const WorkloadBuilder& b, Fold fold, ReplayOptions options = {}) {
  options.fold = fold;
  return Replay(b.workload, b.plan, b.times, Analytical(), options);
}

std::optional<RankReplicas> Found(const WorkloadBuilder& b, const Variation& variation = {}) {
  const Result<ReplayIndex> index = ReplayIndex::Create(b.workload, b.plan, b.times);
  EXPECT_TRUE(index.ok());
  return FindRankReplicas(*index, variation);
}

// Domains of four trays hold a stage of four replicas each, which the first replica represents.
TEST(RankReplicasTest, FirstReplicaRepresentsTheOthers) {
  const Layout layout{4, 4, 3};
  const WorkloadBuilder b = ReplicasInDomains(layout, 1, 4, false);
  const std::optional<RankReplicas> found = Found(b);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->replayed, layout.tensor * layout.stages);
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const int first = layout.stage_of(rank) * layout.tensor * layout.data + rank % layout.tensor;
    EXPECT_EQ(found->representative[static_cast<size_t>(rank)], first);
  }
  for (size_t g = 0; g < b.workload.groups.size(); ++g) {
    const bool data = b.workload.groups[g].ranks.size() == 4 &&
                      b.workload.groups[g].ranks[1] != b.workload.groups[g].ranks[0] + 1;
    EXPECT_EQ(found->joint[g], data) << g;
  }
}

// A tray is not divided: two replicas of two ranks are one cell.
TEST(RankReplicasTest, CellsAreWholeTrays) {
  const Layout layout{2, 8, 2};
  const std::optional<RankReplicas> found = Found(ReplicasInDomains(layout, 1, 4, false));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->replayed, testing::kReplicaGpus * layout.stages);
}

// A rank with a program of its own makes its replica differ from the others.
TEST(RankReplicasTest, DifferentProgramsSeparateReplicas) {
  const Layout layout{4, 4, 2};
  WorkloadBuilder b = ReplicasInDomains(layout, 1, 4, false);
  b.workload.programs.push_back(b.workload.programs[0]);
  b.workload.class_of_rank[5] = b.workload.class_count++;
  const std::optional<RankReplicas> found = Found(b);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->replayed, 2 * layout.tensor * layout.stages);
  EXPECT_EQ(found->representative[5], 5);
  EXPECT_EQ(found->representative[9], 1);
}

TEST(RankReplicasTest, NoneAmongOrdinaryHostsOrSlowGpus) {
  const Layout layout{4, 4, 2};
  EXPECT_FALSE(Found(ReplicasOnOneSwitch(layout, 1)).has_value());
  Variation variation;
  variation.slow_gpus = {{Time::Us(100), 1, 0, 1.5}};
  EXPECT_FALSE(Found(ReplicasInDomains(layout, 1, 4, false), variation).has_value());
}

// Where joint calls run alone in any case, nothing is approximate.
TEST(RankReplicasTest, EqualToThePicosecondIfNothingOverlapsJointCalls) {
  for (const int stages : {2, 3}) {
    const Layout layout{4, 8, stages};
    const WorkloadBuilder b = ReplicasInDomains(layout, 7, 8, true);
    const Result<Timeline> whole = Replayed(b, Fold::kOff), folded = Replayed(b, Fold::kRelaxed);
    ASSERT_TRUE(whole.ok()) << whole.error().ToString();
    ASSERT_TRUE(folded.ok()) << folded.error().ToString();
    EXPECT_EQ(Counter(*folded, "ranks replayed"), layout.tensor * stages);
    EXPECT_EQ(whole->iteration, folded->iteration);
    for (size_t rank = 0; rank < whole->ranks.size(); ++rank) {
      EXPECT_TRUE(whole->ranks[rank].start == folded->ranks[rank].start) << rank;
      EXPECT_TRUE(whole->ranks[rank].ready == folded->ranks[rank].ready) << rank;
      EXPECT_TRUE(whole->ranks[rank].end == folded->ranks[rank].end) << rank;
      EXPECT_EQ(whole->accounts[rank].compute, folded->accounts[rank].compute);
      EXPECT_EQ(whole->accounts[rank].idle, folded->accounts[rank].idle);
    }
  }
}

// The steady state is found among the ranks that are replayed. The hosts of the others have nothing
// to launch.
TEST(RankReplicasTest, LeavingOutPeriodsChangesNothing) {
  int shorter = 0, launched = 0, runs = 0;
  for (uint32_t seed = 0; seed < 96; ++seed) {
    std::mt19937 random(seed);
    Layout layout = testing::RandomLayout(&random);
    layout.data = 2;  // as Pipeline has it: each host has a stage of two replicas
    if (layout.tensor != 2 || layout.stages == 1) continue;
    WorkloadBuilder b = testing::Pipeline(40, seed);
    b.workload.topology.host_kinds[0].trays = 2;
    testing::MergeClasses(layout, &b);
    Progress all_progress, some_progress;
    ReplayOptions all_options, some_options;
    all_options.leave_out_periods = false;
    all_options.progress = &all_progress;
    some_options.progress = &some_progress;
    const Result<Timeline> all = Replayed(b, Fold::kRelaxed, all_options),
                           some = Replayed(b, Fold::kRelaxed, some_options);
    ASSERT_TRUE(all.ok()) << all.error().ToString();
    ASSERT_TRUE(some.ok()) << some.error().ToString();
    EXPECT_EQ(Counter(*some, "ranks replayed"), layout.ranks() / 2);
    EXPECT_EQ(all->iteration, some->iteration) << seed;
    EXPECT_EQ(all->counters, some->counters) << seed;
    for (size_t rank = 0; rank < all->ranks.size(); ++rank) {
      EXPECT_TRUE(all->ranks[rank].start == some->ranks[rank].start) << rank;
      EXPECT_TRUE(all->ranks[rank].end == some->ranks[rank].end) << rank;
    }
    ++runs;
    const bool early = some_progress.Now().all_ops < all_progress.Now().all_ops / 2;
    shorter += early;
    launched += early && !b.workload.launch.name.empty();
  }
  EXPECT_GT(runs, 10);
  EXPECT_GT(shorter, runs / 6) << "schedules whose period is found early";
  EXPECT_GT(launched, 1) << "of them with hosts that launch";
  RecordProperty("shorter", shorter);
  RecordProperty("launched", launched);
}

// Joint calls that overlap other calls miss their share of the ports.
TEST(RankReplicasTest, CloseIfJointCallsOverlapOthers) {
  double worst = 0, sum = 0;
  int runs = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Layout layout{seed % 2 == 0 ? 4 : 2, 8, 1 + static_cast<int>(seed % 3)};
    const int trays = seed % 4 < 2 ? 4 : layout.tensor * 2;  // a stage has two domains, or one
    const WorkloadBuilder b = ReplicasInDomains(layout, seed, trays, false);
    const Result<Timeline> whole = Replayed(b, Fold::kOff), folded = Replayed(b, Fold::kRelaxed);
    ASSERT_TRUE(whole.ok()) << whole.error().ToString();
    ASSERT_TRUE(folded.ok()) << folded.error().ToString();
    EXPECT_EQ(Counter(*folded, "ranks replayed") > 0, layout.stages > 1) << seed;
    if (layout.stages == 1) continue;  // all domains run the same programs, so hosts fold
    const double off = folded->iteration.seconds() / whole->iteration.seconds() - 1;
    worst = std::max(worst, std::abs(off));
    sum += off;
    ++runs;
  }
  RecordProperty("worst", std::to_string(worst));
  RecordProperty("mean", std::to_string(sum / runs));
  EXPECT_GT(runs, 20);
  EXPECT_LT(worst, 0.03);
}

}  // namespace
}  // namespace drydock
