// Does a replay that leaves out periods give the same timeline and the same counters as one that
// plays them all, for random schedules?
#include "exec-engine/steady/steady_state.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "exec-engine/networks/analytical_network.h"
#include "exec-engine/networks/fluid/fluid_network.h"
#include "exec-engine/replay/replay.h"
#include "exec-engine/testing/pipeline_testing.h"

namespace drydock {
namespace {

using testing::Analytical;
using testing::Pipeline;
using testing::WorkloadBuilder;

void ExpectSame(const Timeline& a, const Timeline& b) {
  EXPECT_EQ(a.iteration, b.iteration);
  EXPECT_EQ(a.counters, b.counters);
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  for (size_t rank = 0; rank < a.ranks.size(); ++rank) {
    EXPECT_TRUE(a.ranks[rank].start == b.ranks[rank].start) << rank;
    EXPECT_TRUE(a.ranks[rank].ready == b.ranks[rank].ready) << rank;
    EXPECT_TRUE(a.ranks[rank].end == b.ranks[rank].end) << rank;
    EXPECT_EQ(a.accounts[rank].compute, b.accounts[rank].compute);
    EXPECT_EQ(a.accounts[rank].bubble, b.accounts[rank].bubble);
  }
}

struct Played {
  Result<Timeline> timeline;
  int64_t ops = 0;  // of the last replay
};

Played Play(const WorkloadBuilder& b, bool leave_out, ReplayOptions options = {}) {
  Progress progress;
  options.leave_out_periods = leave_out;
  options.progress = &progress;
  Result<Timeline> timeline = Replay(b.workload, b.plan, b.times, Analytical(), options);
  return {std::move(timeline), progress.Now().all_ops};
}

TEST(SteadyStateTest, LeavingOutPeriodsChangesNothing) {
  int shorter = 0;
  for (uint32_t seed = 0; seed < 48; ++seed) {
    const WorkloadBuilder b = Pipeline(40, seed);
    ReplayOptions options;
    if (seed % 3 == 0) options.fold = Fold::kExact;
    if (seed % 3 == 1) options.fold = Fold::kRelaxed;
    const Played all = Play(b, false, options), some = Play(b, true, options);
    ASSERT_TRUE(all.timeline.ok()) << all.timeline.error().ToString();
    ASSERT_TRUE(some.timeline.ok()) << some.timeline.error().ToString();
    ExpectSame(*all.timeline, *some.timeline);
    EXPECT_FALSE(HasFailure()) << "seed " << seed;
    shorter += some.ops < all.ops / 2;
  }
  RecordProperty("shorter", shorter);
  // Some of them repeat their state after several periods only.
  EXPECT_GT(shorter, 26) << "schedules whose period is found early";
}

TEST(SteadyStateTest, ManyMicrobatchesAreLittleWork) {
  const Played all = Play(Pipeline(400, 2), false), some = Play(Pipeline(400, 2), true);
  ASSERT_TRUE(all.timeline.ok() && some.timeline.ok());
  ExpectSame(*all.timeline, *some.timeline);
  EXPECT_LT(15 * some.ops, all.ops);
}

int networks_made = 0;  // one for each replay that begins

// A repetition that is found lets the replay go on. Only where none is found in a few periods, or
// where the replay cannot go on, another one begins.
TEST(SteadyStateTest, AReplayThatFindsItsSteadyStateDoesNotBeginAgain) {
  const NetworkModel counting = {
      .name = "analytical",
      .make = [](const Topology& topology,
                 const NetworkOptions& options) -> Result<std::unique_ptr<Network>> {
        ++networks_made;
        return MakeAnalyticalNetwork(topology, options);
      }};
  int short_runs = 0, at_once = 0;
  for (const int microbatches : {40, 200}) {
    for (uint32_t seed = 0; seed < 16; ++seed) {
      const WorkloadBuilder b = Pipeline(microbatches, seed);
      Progress progress;
      ReplayOptions options;
      options.progress = &progress;
      networks_made = 0;
      const Result<Timeline> some = Replay(b.workload, b.plan, b.times, counting, options);
      const int replays = networks_made;
      const int64_t ops = progress.Now().all_ops;
      const Played all = Play(b, false);
      ASSERT_TRUE(some.ok() && all.timeline.ok());
      ExpectSame(*some, *all.timeline);
      EXPECT_LE(replays, microbatches == 40 ? 2 : 3) << "seed " << seed;
      if (ops == all.ops) continue;
      ++short_runs;
      at_once += replays == 1;
    }
  }
  EXPECT_GT(short_runs, 20) << "of 32";
  EXPECT_GT(at_once, 20);
}

// Data parallelism over two hosts of two GPUs. All-gathers come first, most of which take the same
// times. Then `microbatches` run, each with a sum over all ranks if `sums`, and a sum at the end.
WorkloadBuilder DataParallel(int microbatches, bool sums) {
  Topology topology = testing::SmallCluster(2, 2);
  topology.gpus[0].collectives.simple.base = Time::Us(5);
  WorkloadBuilder b(topology);
  const int compute = b.Stream("compute"), data = b.Stream("dp");
  const int world = b.Role("dp", Dimension::kData, {{0, 1, 2, 3}});
  uint32_t block = 0;
  for (int rank = 0; rank < 4; ++rank) {
    const auto all = [&](CollectiveType type) {
      return b.Collective(rank, data, world, type, 1 << 20);
    };
    for (int i = 0; i < 4; ++i) all(CollectiveType::kAllGather);
    for (int m = 0; m < microbatches; ++m) {
      const uint32_t op = b.Compute(rank, compute, Time::Us(400));
      std::vector<Op>& ops = b.workload.programs[static_cast<size_t>(rank)].ops;
      if (rank == 0 && m == 0) block = ops[op].work;
      ops[op].work = block;  // equal blocks share a number, so that programs repeat
      ops[op].microbatch = m;
      if (!sums) continue;
      const uint32_t sum = b.Collective(rank, compute, world, CollectiveType::kAllReduce, 1 << 19);
      b.workload.programs[static_cast<size_t>(rank)].ops[sum].microbatch = m;
    }
    b.Collective(rank, compute, world, CollectiveType::kAllReduce, 1 << 20);
  }
  b.PlanAll();
  return b;
}

// A call that was left out stays with its hosts until their next call. The state lacks it as soon
// as it is over.
TEST(SteadyStateTest, CallsThatAreLeftOutDoNotHideTheRepetition) {
  for (const bool sums : {false, true}) {
    for (const int microbatches : {40, 100}) {
      const WorkloadBuilder b = DataParallel(microbatches, sums);
      ReplayOptions slow;
      slow.shortcut = false;
      const Played all = Play(b, false), some = Play(b, true), played = Play(b, false, slow);
      ASSERT_TRUE(all.timeline.ok() && some.timeline.ok() && played.timeline.ok());
      ExpectSame(*all.timeline, *some.timeline);
      EXPECT_EQ(all.timeline->counters, played.timeline->counters);
      EXPECT_LT(2 * some.ops, all.ops) << microbatches << (sums ? " with" : " without") << " sums";
    }
  }
}

// Several iterations, a stop, jitter and slow GPUs break the repetition.
TEST(SteadyStateTest, WhatDoesNotRepeatIsReplayedWhole) {
  const WorkloadBuilder b = Pipeline(40, 2);
  ReplayOptions stopped, twice, slow, jitter;
  stopped.until = Time::Us(3000);
  twice.iterations = 2;
  slow.variation.slow_gpus = {{Time::Us(1000), 0, 0, 1.5}};
  jitter.variation.jitter.compute = 0.1;
  for (const ReplayOptions& options : {stopped, twice, slow, jitter}) {
    const Played all = Play(b, false, options), some = Play(b, true, options);
    ASSERT_TRUE(all.timeline.ok() && some.timeline.ok());
    ExpectSame(*all.timeline, *some.timeline);
    EXPECT_EQ(all.ops, some.ops);
  }
}

TEST(SteadyStateTest, ANetworkWithoutStatesReplaysAll) {
  const WorkloadBuilder b = Pipeline(40, 2);
  Progress progress;
  ReplayOptions options;
  options.progress = &progress;
  const Result<Timeline> timeline =
      Replay(b.workload, b.plan, b.times, {.name = "fluid", .make = MakeFluidNetwork}, options);
  ASSERT_TRUE(timeline.ok());
  EXPECT_EQ(progress.Now().all_ops, Play(b, false).ops);
}

// The last stage sends one message fewer than the one before it waits for.
TEST(SteadyStateTest, ADeadlockIsReportedAsWithoutTheSearch) {
  WorkloadBuilder b = Pipeline(40, 1);
  Program& last = b.workload.programs.back();
  while (last.ops.back().kind != OpKind::kSend) last.ops.pop_back();
  last.ops.pop_back();
  last.dependency_begin.resize(last.ops.size() + 1);
  last.dependency.resize(last.dependency_begin.back());
  const Played all = Play(b, false), some = Play(b, true);
  ASSERT_FALSE(all.timeline.ok());
  ASSERT_FALSE(some.timeline.ok());
  EXPECT_EQ(all.timeline.error().ToString(), some.timeline.error().ToString());
}

}  // namespace
}  // namespace drydock
