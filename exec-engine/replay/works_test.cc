// Plans of several works: the order of the works and their time together.
#include <gtest/gtest.h>

#include "exec-engine/replay/replay.h"
#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

using testing::PlanShape;
using testing::ReplayAll;
using testing::SmallCluster;
using testing::WorkloadBuilder;

constexpr int64_t kBytes = 1 << 20;
constexpr Time kBlock = Time::Ps(104857600);  // a thread block moves kBytes at 10 GB/s

// `second` after `first`, on channels that are `shift` higher.
Plan Followed(Plan first, const Plan& second, int shift, int launch) {
  const auto connections = static_cast<uint32_t>(first.connections.size());
  const auto operands = static_cast<uint32_t>(first.operands.size());
  const auto patterns = static_cast<uint32_t>(first.patterns.size());
  const auto work = static_cast<uint16_t>(first.works.size());
  first.works.push_back(second.works[0]);
  first.works.back().launch = launch;
  first.connections.insert(first.connections.end(), second.connections.begin(),
                           second.connections.end());
  for (const uint32_t operand : second.operands) first.operands.push_back(connections + operand);
  first.patterns.insert(first.patterns.end(), second.patterns.begin(), second.patterns.end());
  for (size_t m = 0; m < first.members.size(); ++m) {
    for (ChannelProgram program : second.members[m]) {
      program.channel = static_cast<uint16_t>(program.channel + shift);
      program.work = work;
      program.pattern += patterns;
      program.operand_begin += operands;
      first.members[m].push_back(program);
    }
  }
  return first;
}

Plan Message(bool back = false) {
  Plan plan = testing::SendReceive({.bytes = kBytes, .slice_bytes = 64 << 10});
  if (back) {
    std::swap(plan.connections[0].from, plan.connections[0].to);
    std::swap(plan.members[0], plan.members[1]);
  }
  return plan;
}

// A cluster of one or two hosts, with one group of two ranks that make one call.
Timeline TimelineOf(const Plan& plan, Time base = Time(), int hosts = 1) {
  Topology cluster = SmallCluster(hosts, 2 / hosts);
  cluster.gpus[0].collectives.p2p_simple.base = base;
  WorkloadBuilder b(cluster);
  const int stream = b.Stream("compute");
  const int role = b.Role("tp", Dimension::kTensor, {{0, 1}});
  for (const int rank : {0, 1}) {
    b.Collective(rank, stream, role, CollectiveType::kAllGather, kBytes);
  }
  b.PlanAll();
  b.SetPlan(kBytes, plan);
  const Result<Timeline> timeline = ReplayAll(b);
  EXPECT_TRUE(timeline.ok()) << timeline.error().ToString();
  return timeline.value();
}

TEST(WorksTest, OnOneChannelWorksRunOneAfterAnother) {
  const Timeline one = TimelineOf(Message());
  const Timeline two = TimelineOf(Followed(Message(), Message(), 0, 0));
  EXPECT_EQ(two.ranks[0].end[0], kBlock + kBlock);
  EXPECT_EQ(two.iteration, one.iteration + kBlock);
}

TEST(WorksTest, OnTwoChannelsWorksRunInParallel) {
  const Timeline one = TimelineOf(Message());
  EXPECT_EQ(TimelineOf(Followed(Message(), Message(), 1, 0)).iteration, one.iteration);
}

// Member 1 answers in the second work, so member 0 receives everything before it sends the third.
TEST(WorksTest, AWorkBeginsWhenThePreviousOneHasEndedOnThatMember) {
  const Timeline one = TimelineOf(Message());
  const Timeline both = TimelineOf(Followed(Message(), Message(true), 0, 0));
  EXPECT_EQ(both.iteration, one.iteration + one.iteration);
  const Timeline third =
      TimelineOf(Followed(Followed(Message(), Message(true), 0, 0), Message(), 0, 0));
  EXPECT_EQ(third.iteration, one.iteration + one.iteration + one.iteration);
}

TEST(WorksTest, TheNextKernelWaitsForAllChannelsAndIsLaunched) {
  constexpr Time kBase = Time::Us(5);
  const Timeline one = TimelineOf(Message(), kBase);
  const Timeline kernels = TimelineOf(Followed(Message(), Message(), 1, 1), kBase);
  EXPECT_EQ(kernels.ranks[0].end[0], kBase + kBlock + kBase + kBlock);
  EXPECT_EQ(kernels.iteration, one.iteration + kBase + kBlock);
}

TEST(WorksTest, WorksBetweenHostsKeepTheirOrder) {
  const auto between = [](bool back) {
    Plan plan = Message(back);
    plan.connections[0].link = LinkKind::kNet;
    plan.connections[0].send_nic = plan.connections[0].recv_nic = 0;
    return plan;
  };
  const Timeline one = TimelineOf(between(false), Time(), 2);
  const Timeline both = TimelineOf(Followed(between(false), between(true), 0, 0), Time(), 2);
  EXPECT_GT(both.iteration, one.iteration + kBlock);
  EXPECT_LE(both.iteration, one.iteration + one.iteration);
  const Timeline kernels = TimelineOf(Followed(between(false), between(true), 1, 1), Time(), 2);
  EXPECT_EQ(kernels.iteration, both.iteration);
  EXPECT_EQ(TimelineOf(Followed(between(false), between(true), 1, 0), Time(), 2).iteration,
            one.iteration);
}

// A message in a group of four involves two members, on one host or between hosts. The other
// members make their collectives at the same time.
TEST(WorksTest, AMessageNeedsOnlyItsTwoEnds) {
  for (const int hosts : {1, 4}) {
    WorkloadBuilder b(SmallCluster(hosts, 4 / hosts));
    const int compute = b.Stream("compute");
    const int role = b.Role("tp", Dimension::kTensor, {{0, 1, 2, 3}});
    b.Transfer(0, compute, role, true, 0, kBytes, 7);
    b.Transfer(1, compute, role, false, 0, kBytes, 7);
    for (int rank = 0; rank < 4; ++rank) {
      b.Collective(rank, compute, role, CollectiveType::kAllReduce, kBytes / 4);
    }
    b.PlanAll();
    Plan message = Message();
    if (hosts > 1) {
      message.connections[0].link = LinkKind::kNet;
      message.connections[0].send_nic = message.connections[0].recv_nic = 0;
    }
    message.members.resize(4);
    b.SetPlan(kBytes, message);
    const Result<Timeline> timeline = ReplayAll(b);
    ASSERT_TRUE(timeline.ok()) << timeline.error().ToString();
    EXPECT_EQ(timeline->ranks[3].start[0], Time());
    EXPECT_GT(timeline->ranks[1].end[0], kBlock);
    EXPECT_EQ(timeline->ranks[1].start[1], timeline->ranks[1].end[0]);
    EXPECT_GE(timeline->ranks[3].ready[0], timeline->ranks[1].start[1]);
  }
}

}  // namespace
}  // namespace drydock
