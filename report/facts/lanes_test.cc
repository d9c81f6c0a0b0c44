#include "report/facts/lanes.h"

#include <gtest/gtest.h>

#include "report/testing/run_testing.h"

namespace drydock {
namespace {

constexpr int kForward = static_cast<int>(Phase::kForward);
constexpr int kBackward = static_cast<int>(Phase::kBackward);
constexpr int kTensor = static_cast<int>(Dimension::kTensor);
constexpr int kPipeline = static_cast<int>(Dimension::kPipeline);

using Runs = std::vector<LaneRun>;

// 60 columns of 10 us.
TEST(Lanes, ComputeShowsPhasesAndLeavesGapsOut) {
  EXPECT_EQ(ComputeLane(FakeRun(), 0, 60), (Runs{{0, 10, kForward, 4}, {45, 60, kBackward, 4}}));
}

// Rank 0 waits from 100 to 110 us, so nothing moves. Its send begins when its collective ends.
TEST(Lanes, CommunicationShowsWhatMoves) {
  EXPECT_EQ(CommunicationLane(FakeRun(), 0, 60),
            (Runs{{11, 15, kTensor, 4}, {15, 20, kPipeline, 4}, {40, 45, kPipeline, 4}}));
}

// 6 columns of 100 us: forward fills the first; backward half of the fifth and all of the sixth.
TEST(Lanes, ColumnsShowHowFullTheyAre) {
  EXPECT_EQ(ComputeLane(FakeRun(), 0, 6),
            (Runs{{0, 1, kForward, 4}, {4, 5, kBackward, 2}, {5, 6, kBackward, 4}}));
}

// In the one column of 600 us, forward takes 100 us and backward 150 us. After the change only 50
// us of forward remain, too little to show.
TEST(Lanes, ColumnsShowTheKindWithTheMostTime) {
  Inputs inputs = FakeRun();
  EXPECT_EQ(ComputeLane(inputs, 0, 1), (Runs{{0, 1, kBackward, 2}}));
  inputs.timeline.ranks[0].end[0] = Time::Us(50);
  inputs.timeline.ranks[0].start[4] = Time::Us(600);
  EXPECT_EQ(ComputeLane(inputs, 0, 1), Runs());
}

TEST(Lanes, ColumnsThatDoNotDivideTheIterationStillCoverIt) {
  Inputs inputs = FakeRun();
  inputs.timeline.iteration = Time::Ps(600000001);
  inputs.timeline.ranks[0].end[4] = inputs.timeline.iteration;
  const Runs runs = ComputeLane(inputs, 0, 7);
  EXPECT_EQ(runs.back().end, 7);
}

}  // namespace
}  // namespace drydock
