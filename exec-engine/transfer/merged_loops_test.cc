#include "exec-engine/transfer/merged_loops.h"

#include <gtest/gtest.h>

#include "core/model/calls/step_cursor.h"
#include "exec-engine/networks/fluid/fluid_network.h"
#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

using testing::Counter;
using testing::PlanShape;
using testing::SmallCluster;
using testing::WorkloadBuilder;

constexpr int64_t kChunk = 1 << 17;

// A message over 4 channels, with `chunks` chunks on each and a shorter one.
Plan Message(int64_t chunks, int hosts = 2) {
  PlanShape shape;
  shape.gpus_per_host = hosts == 2 ? 1 : 2;
  shape.channels = 4;
  shape.bytes = 4 * kChunk;
  shape.link = hosts == 2 ? LinkKind::kNet : LinkKind::kPeerWrite;
  Plan plan = testing::SendReceive(shape);
  for (Pattern& pattern : plan.patterns) {
    Step last = pattern.steps[0];
    last.bytes = kChunk / 2;
    pattern.steps.push_back(last);
    pattern.loops = {{chunks, kChunk, 1}, {1, 0, 2}};
  }
  return plan;
}

Plan Merged(const Plan& plan, Merging merging = Merging::kLargest) {
  return WithMergedLoops({{plan}, {}}, merging).plans[0];
}

// Of a member's first program: steps, bytes, and steps without merging.
struct Sum {
  int64_t primitives = 0, bytes = 0, nccl = 0;
};
Sum SumOf(const Plan& plan, size_t member) {
  const ChannelProgram& program = plan.members[member][0];
  Sum sum;
  for (StepCursor at(plan.patterns[program.pattern], program.position); !at.done(); at.Next()) {
    ++sum.primitives;
    sum.bytes += at.bytes();
    sum.nccl += at.step().merged;
    EXPECT_LE(at.bytes(), kMaxMerged.count());
  }
  return sum;
}

TEST(MergedLoopsTest, ChunksOfAMessageAreMerged) {
  for (const int64_t chunks : {1, 2, 12, 16, 17, 100}) {
    const Plan plan = Message(chunks);
    const Plan merged = Merged(plan);
    for (const size_t member : {0, 1}) {
      const Sum before = SumOf(plan, member), after = SumOf(merged, member);
      EXPECT_EQ(before.bytes, after.bytes);
      EXPECT_EQ(before.primitives, after.nccl);
      const int64_t most = kMaxMerged.count() / kChunk;
      const int64_t together = std::clamp<int64_t>(chunks - 1, 1, most);
      EXPECT_EQ(after.primitives, (chunks - 1) / together + (chunks - 1) % together + 2);
    }
  }
}

TEST(MergedLoopsTest, TwoSlicesMergedWithinTheWindowAreAtMostItsSlots) {
  Plan plan = Message(/*chunks=*/100);
  for (const int slots : {1, 2, 4, 8, 64}) {
    plan.works[0].slots = slots;
    const Plan merged = Merged(plan, Merging::kWithinWindow);
    const int64_t largest = kMaxMerged.count() / kChunk;
    const auto most = static_cast<uint32_t>(std::clamp<int64_t>(slots / 2, 1, largest));
    EXPECT_EQ(merged.patterns[merged.members[0][0].pattern].steps[0].merged, most)
        << slots << " slots";
  }
}

TEST(MergedLoopsTest, LocalMessagesRingsAndOtherProtocolsAreNotMerged) {
  EXPECT_EQ(Merged(Message(12, /*hosts=*/1)), Message(12, 1));
  Plan other = Message(12);
  other.works[0].protocol = Protocol::kLl;
  EXPECT_EQ(Merged(other), other);
  PlanShape ring;
  ring.members = 4;
  ring.gpus_per_host = 1;
  ring.link = LinkKind::kNet;
  Plan all_reduce = testing::RingAllReduce(ring);
  for (Pattern& pattern : all_reduce.patterns) pattern.loops[0].repeat = 12;
  EXPECT_EQ(Merged(all_reduce), all_reduce);
}

// Cases in which the bottleneck is the thread blocks, the messages of a NIC, or its bytes.
struct Costs {
  std::string name;
  int64_t send_gb, receive_gb;  // of a channel
  Time step, net_slice, nic_message;
  double within = 0.007;
};

class MergedMessages : public ::testing::TestWithParam<Costs> {};

TEST_P(MergedMessages, TakeTheTimeOfUnmergedMessages) {
  const Costs& costs = GetParam();
  for (const int64_t chunks : {2, 3, 9, 12, 16, 17, 40, 200}) {
    WorkloadBuilder b(SmallCluster(2, 1));
    CollectiveCosts& set = b.workload.topology.gpus[0].collectives;
    for (CollectiveCosts::Protocol* each : {&set.simple, &set.p2p_simple}) {
      each->send = Bandwidth::BitsPerSecond(costs.send_gb * 8'000'000'000);
      each->receive = Bandwidth::BitsPerSecond(costs.receive_gb * 8'000'000'000);
      each->step = costs.step;
      each->net_slice = costs.net_slice;
    }
    b.workload.topology.host_kinds[0].nics.message = costs.nic_message;
    const int stream = b.Stream("p2p");
    const int role = b.Role("pp", Dimension::kPipeline, {{0, 1}});
    b.Transfer(0, stream, role, true, 0, 1 << 20, 0);
    b.Transfer(1, stream, role, false, 0, 1 << 20, 0);
    b.PlanAll();
    b.SetPlan(1 << 20, Message(chunks));
    NetworkModel network = {.name = "fluid", .make = MakeFluidNetwork};
    const Result<Timeline> slices = Replay(b.workload, b.plan, b.times, network, {});
    network.merging = Merging::kLargest;
    const Result<Timeline> merged = Replay(b.workload, b.plan, b.times, network, {});
    ASSERT_TRUE(slices.ok()) << slices.error().ToString();
    ASSERT_TRUE(merged.ok()) << merged.error().ToString();
    EXPECT_NEAR(merged->iteration.seconds() / slices->iteration.seconds(), 1, costs.within)
        << chunks << " chunks: " << ToString(slices->iteration);
    EXPECT_EQ(Counter(*slices, "slices merged"), -1);
    network = testing::Analytical();
    const Result<Timeline> queued = Replay(b.workload, b.plan, b.times, network, {});
    network.merging = Merging::kWithinWindow;
    const Result<Timeline> within = Replay(b.workload, b.plan, b.times, network, {});
    ASSERT_TRUE(queued.ok() && within.ok());
    EXPECT_NEAR(within->iteration.seconds() / queued->iteration.seconds(), 1, costs.within)
        << chunks << " chunks: " << ToString(queued->iteration);
    // At both ends. The last chunk is not merged.
    const int64_t together = std::min(chunks - 1, kMaxMerged.count() / kChunk);
    const int64_t in_merged = together > 1 ? (chunks - 1) / together * together : 0;
    EXPECT_EQ(Counter(*merged, "slices merged"), in_merged > 0 ? 8 * in_merged : -1);
    const int64_t spared = Counter(*slices, "messages") - Counter(*merged, "messages");
    EXPECT_GE(spared, in_merged > 0 ? 4 * (in_merged - (chunks - 1) / together) : 0);
  }
}

// The receiver's case is less exact: its slices arrive without headers between them, and the errors
// add up on the last channel of a NIC.
INSTANTIATE_TEST_SUITE_P(
    Bound, MergedMessages,
    ::testing::Values(Costs{"by_bytes", 20, 30, Time::Us(1), Time(), Time()},
                      Costs{"by_sender", 4, 30, Time::Us(1), Time::Us(2), Time()},
                      Costs{"by_receiver", 20, 4, Time(), Time::Us(1), Time(), 0.045},
                      Costs{"by_messages", 20, 30, Time(), Time(), Time::Us(10)},
                      Costs{"by_all", 7, 7, Time::Us(1), Time::Us(1), Time::Us(1)}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace drydock
