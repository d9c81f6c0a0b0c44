#include "report/facts/memory_over_time.h"

#include <gtest/gtest.h>

#include "report/testing/run_testing.h"

namespace drydock {
namespace {

// Rank 0 computes at 0 and at 450 us; its messages in between hold more.
Inputs WithMemory() {
  Inputs inputs = FakeRun();
  MemoryCurve& curve = inputs.memory_curve.emplace();
  for (const Op& op : inputs.program_of(0).ops) {
    curve.allocated.emplace_back(op.kind == OpKind::kCompute ? 100 : 300);
  }
  return inputs;
}

TEST(MemoryOverTime, AStepBeginsWithAComputeOpAndHasTheMostBeforeIt) {
  const Inputs inputs = WithMemory();
  const std::vector<AllocatedAt> curve = AllocatedOverTime(inputs, 0);
  ASSERT_EQ(curve.size(), 2u);
  EXPECT_EQ(curve[0].time, Time());
  EXPECT_EQ(curve[0].bytes, Bytes(100));
  EXPECT_EQ(curve[1].time, Time::Us(450));
  EXPECT_EQ(curve[1].bytes, Bytes(300));
}

TEST(MemoryOverTime, IsEmptyWhereTheWorkloadDoesNotKnowIt) {
  EXPECT_TRUE(AllocatedOverTime(FakeRun(), 0).empty());
  EXPECT_TRUE(AllocatedOverTime(WithMemory(), 2).empty());
  EXPECT_EQ(RankWithMemory(WithMemory()), 0);
  EXPECT_EQ(RankWithMemory(FakeRun()), -1);
}

TEST(MemoryOverTime, AColumnHasTheMostOfItsTime) {
  const std::vector<AllocatedAt> curve = {{Time::Us(0), Bytes(5)},
                                          {Time::Us(1), Bytes(9)},
                                          {Time::Us(2), Bytes(1)},
                                          {Time::Us(6), Bytes(4)}};
  const std::vector<AllocatedAt> thin = Thinned(curve, Time::Us(10), 2);
  ASSERT_EQ(thin.size(), 2u);
  EXPECT_EQ(thin[0].bytes, Bytes(9));
  EXPECT_EQ(thin[1].time, Time::Us(5));
  EXPECT_EQ(thin[1].bytes, Bytes(4));
  EXPECT_EQ(Thinned(curve, Time::Us(10), 4).size(), 4u);
}

}  // namespace
}  // namespace drydock
