#include "exec-engine/replay/call_loop.h"

#include <gtest/gtest.h>

#include <numeric>

#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

// One call over all GPUs of `hosts` hosts of two.
CallAlone Alone(CollectiveType type, int hosts, Plan plan) {
  const Topology topology = testing::SmallCluster(hosts, 2);
  Group group;
  group.ranks.resize(static_cast<size_t>(topology.gpu_count()));
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  CommCall call;
  call.collective = type;
  call.count = 1 << 18;
  call.group_size = topology.gpu_count();
  CallAlone alone;
  alone.workload = WorkloadOfCalls(topology, {group}, {call});
  alone.plan.plans.push_back(std::move(plan));
  alone.plan.assignments.push_back({0, 0, 0});
  return alone;
}

CallAlone RingAllReduce(int hosts) {
  testing::PlanShape shape;
  shape.members = 2 * hosts;
  shape.gpus_per_host = 2;
  return Alone(CollectiveType::kAllReduce, hosts, testing::RingAllReduce(shape));
}

// Member 0 sends to member 1, which ends later by the latency of the link.
CallAlone Message() { return Alone(CollectiveType::kAllToAllV, 1, testing::SendReceive({})); }

Time TimeOf(const CallAlone& alone, const CallLoop& loop) {
  return *TimeOfOneCall(alone, loop, testing::Analytical(), {});
}

// The end of the last of `calls` calls on the last rank.
Time Replayed(CallAlone alone, int calls) {
  Repeat(calls, &alone);
  return Replay(alone.workload, alone.plan, NoKernelTimes(alone.workload.topology),
                testing::Analytical(), {})
      ->iteration;
}

TEST(CallLoopTest, RepeatedCallsRunOneAfterAnother) {
  CallAlone alone = RingAllReduce(1);
  Repeat(3, &alone);
  EXPECT_EQ(alone.workload.programs[1].ops.size(), 3u);
  EXPECT_EQ(Replayed(alone, 3), Replayed(alone, 1) * 3);
}

TEST(CallLoopTest, OneCallSufficesIfAllEndTogether) {
  const CallAlone alone = RingAllReduce(1);
  CallLoop loop;
  loop.calls = 1000000;  // too many to replay
  EXPECT_EQ(TimeOf(alone, loop), Replayed(alone, 1));
}

TEST(CallLoopTest, CallsThatOverlapAreReplayedInFull) {
  CallLoop loop;
  loop.calls = 7;
  loop.rank = RankTime::kMax;
  const CallAlone alone = Message();
  EXPECT_EQ(TimeOf(alone, loop), Time::Ps(Replayed(alone, 7).ps() / 7));
  EXPECT_LT(TimeOf(alone, loop), Replayed(alone, 1));
}

TEST(CallLoopTest, BlockingCallsDoNotOverlap) {
  CallLoop loop;
  loop.blocking = true;
  EXPECT_EQ(TimeOf(Message(), loop), Replayed(Message(), 1));
}

TEST(CallLoopTest, ThreeCallsSufficeIfTheyAreSteady) {
  const CallAlone alone = RingAllReduce(4);
  CallLoop loop;
  loop.rank = RankTime::kMax;
  loop.calls = 20;
  const Time all = Time::Ps(Replayed(alone, 20).ps() / 20);
  const Time told = TimeOf(alone, loop);
  EXPECT_NEAR(told.us(), all.us(), 0.01 * all.us());
}

TEST(CallLoopTest, ReportsTheChosenRank) {
  CallLoop loop;
  const auto of = [&](RankTime rank) {
    loop.rank = rank;
    return TimeOf(Message(), loop);
  };
  EXPECT_LT(of(RankTime::kMin), of(RankTime::kMax));
  EXPECT_EQ(of(RankTime::kFirst), of(RankTime::kMin));  // the sender ends first
  EXPECT_NEAR(of(RankTime::kMean).us(), (of(RankTime::kMin).us() + of(RankTime::kMax).us()) / 2,
              1e-5);
}

// One thread launches on both GPUs of a host: the second one begins later. While the calls take
// longer than their launches, that delays the first call only.
TEST(CallLoopTest, OneProcessLaunchesOnOneGpuAfterAnother) {
  const CallAlone alone = RingAllReduce(1);
  const Time call = Replayed(alone, 1), launch = Time::Ps(call.ps() / 10);
  CallLoop loop;
  loop.launch = {2, launch};
  loop.rank = RankTime::kMax;
  loop.calls = 1;
  EXPECT_EQ(TimeOf(alone, loop), call + launch * 2);
  loop.blocking = true;
  EXPECT_EQ(TimeOf(alone, loop), call + launch * 2);
  loop.blocking = false;
  loop.calls = 20;
  EXPECT_EQ(TimeOf(alone, loop), Time::Ps((call * 20 + launch * 2).ps() / 20));
}

TEST(CallLoopTest, TheHostSetsThePaceOfShortCalls) {
  const CallAlone alone = RingAllReduce(1);
  const Time call = Replayed(alone, 1);
  CallLoop loop;
  loop.launch = {2, call};
  loop.rank = RankTime::kMax;
  EXPECT_EQ(TimeOf(alone, loop), Time::Ps((call * (20 * 2 + 1)).ps() / 20));
  loop.launch.gpus = 1;
  EXPECT_EQ(TimeOf(alone, loop), Time::Ps((call * (20 + 1)).ps() / 20));
}

}  // namespace
}  // namespace drydock
