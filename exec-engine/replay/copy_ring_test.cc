// A ring of copies in parallel with the parts of a matrix product, as Transformer Engine overlaps
// them: closed forms.
#include <gtest/gtest.h>

#include "exec-engine/replay/replay.h"
#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

using testing::ReplayAll;
using testing::SmallCluster;
using testing::WorkloadBuilder;

constexpr int kRanks = 4;
constexpr int64_t kBytes = 1'000'000;  // of a message
// A copy engine starts after 4 us and moves 50 GB/s, half the rate of the link. The latency is 1
// us.
constexpr Time kStep = Time::Us(4 + 20 + 1);

// A message from each member to the next one.
Plan Shift() {
  Plan plan;
  plan.works[0].algorithm = Algorithm::kCopyEngine;
  plan.works[0].channels = 1;
  Step send, receive;
  send.send = receive.receive = {0, 1};
  send.bytes = receive.bytes = kBytes;
  receive.store = true;
  plan.patterns = {{1, 1, {{1, 0, 1}}, {send}}, {1, 1, {{1, 0, 1}}, {receive}}};
  for (int m = 0; m < kRanks; ++m) {
    Connection c;
    c.from = static_cast<uint16_t>(m);
    c.to = static_cast<uint16_t>((m + 1) % kRanks);
    c.direct = true;
    plan.connections.push_back(c);
  }
  plan.operands = {0, 1, 2, 3};
  for (uint32_t m = 0; m < kRanks; ++m) {
    ChannelProgram out, in;
    out.operand_begin = m;
    in.operand_begin = (m + kRanks - 1) % kRanks;
    in.pattern = 1;
    plan.members.push_back({out, in});
  }
  return plan;
}

// The parts of a product, each but the first after a step of the ring. `apart`: all steps come
// before the first part.
Time Iteration(Time part, bool apart) {
  Topology cluster = SmallCluster(1, kRanks);
  CollectiveCosts::Protocol& copies = cluster.gpus[0].collectives.copy_engine;
  copies.base = Time::Us(4);
  copies.send = Bandwidth::FromBytesPerSecond(50e9);
  WorkloadBuilder b(cluster);
  const int compute = b.Stream("compute"), ring = b.Stream("tp");
  const int role = b.Role("tp", Dimension::kTensor, {{0, 1, 2, 3}});
  for (int rank = 0; rank < kRanks; ++rank) {
    std::vector<uint32_t> steps;
    for (int i = 1; i < kRanks; ++i) {
      steps.push_back(b.Collective(rank, ring, role, CollectiveType::kAllGather, kBytes));
    }
    for (int i = 0; i < kRanks; ++i) {
      std::vector<uint32_t> rows;
      if (apart || i > 0) rows.push_back(apart ? steps.back() : steps[static_cast<size_t>(i) - 1]);
      b.Compute(rank, compute, part, rows);
    }
  }
  b.PlanAll();
  b.SetPlan(kBytes, Shift());
  const Result<Timeline> timeline = ReplayAll(b);
  EXPECT_TRUE(timeline.ok()) << timeline.error().ToString();
  return timeline->iteration;
}

TEST(CopyRing, LongPartsHideTheSteps) {
  EXPECT_EQ(Iteration(Time::Us(40), false), Time::Us(40) * kRanks);
  EXPECT_EQ(Iteration(kStep, false), kStep * kRanks);
}

TEST(CopyRing, ShortPartsWaitForTheirRows) {
  EXPECT_EQ(Iteration(Time::Us(10), false), kStep * (kRanks - 1) + Time::Us(10));
}

TEST(CopyRing, WithoutOverlapTheyAddUp) {
  for (const int us : {10, 40}) {
    EXPECT_EQ(Iteration(Time::Us(us), true), kStep * (kRanks - 1) + Time::Us(us) * kRanks);
  }
}

}  // namespace
}  // namespace drydock
