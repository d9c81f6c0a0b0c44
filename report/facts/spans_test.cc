#include "report/facts/spans.h"

#include <gtest/gtest.h>

#include "report/testing/run_testing.h"

namespace drydock {
namespace {

TEST(Spans, EveryOpIsABarIfThereIsRoom) {
  const Spans spans = SpansOf(FakeRun(), {0, 1});
  EXPECT_EQ(spans.grain, Time());
  ASSERT_FALSE(spans.lanes.empty());
  const SpanLane& compute = spans.lanes[0];
  EXPECT_EQ(compute.rank, 0);
  ASSERT_EQ(compute.spans.size(), 2u);
  EXPECT_EQ(compute.spans[0].end, Time::Us(100));
  EXPECT_EQ(compute.spans[1].begin, Time::Us(450));
  for (const SpanLane& lane : spans.lanes) {
    for (const Span& span : lane.spans) EXPECT_EQ(span.ops, 1);
  }
}

// Rank 1 reaches its all-reduce at 110 us, when rank 0 has waited since 100 us.
TEST(Spans, AWaitStandsBeforeTheBar) {
  const Spans spans = SpansOf(FakeRun(), {0});
  bool waits = false;
  for (const SpanLane& lane : spans.lanes) {
    for (const Span& span : lane.spans) {
      waits |= span.begin == Time::Us(110) && span.wait == Time::Us(10);
    }
  }
  EXPECT_TRUE(waits);
}

// With less room, the ops of a stream are joined until they fit, and none is lost.
TEST(Spans, JoinsOpsUntilTheyFit) {
  const Inputs inputs = FakeRun();
  const Spans all = SpansOf(inputs, {0, 1, 2, 3});
  size_t bars = 0;
  for (const SpanLane& lane : all.lanes) bars += lane.spans.size();
  const Spans few = SpansOf(inputs, {0, 1, 2, 3}, bars - 1);
  size_t left = 0, ops = 0;
  for (const SpanLane& lane : few.lanes) {
    left += lane.spans.size();
    for (const Span& span : lane.spans) ops += static_cast<size_t>(span.ops);
  }
  EXPECT_GT(few.grain, Time());
  EXPECT_LT(left, bars);
  EXPECT_EQ(ops, bars);
}

}  // namespace
}  // namespace drydock
