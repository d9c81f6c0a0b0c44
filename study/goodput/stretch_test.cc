#include "study/goodput/stretch.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

constexpr Schedule kSynchronous = {10, 10, 3, 4, 0};   // 30 s of steps, 4 s of saving
constexpr Schedule kAsynchronous = {10, 20, 3, 1, 8};  // 8 s of writing at half the speed

void ExpectStretch(const Stretch& stretch, double done, double kept, double saving,
                   double interference) {
  EXPECT_DOUBLE_EQ(stretch.done, done);
  EXPECT_DOUBLE_EQ(stretch.kept, kept);
  EXPECT_DOUBLE_EQ(stretch.saving, saving);
  EXPECT_DOUBLE_EQ(stretch.interference, interference);
}

TEST(Stretch, SynchronousCheckpointsCountFromTheirEnd) {
  ExpectStretch(After(kSynchronous, 25), 25, 0, 0, 0);
  ExpectStretch(After(kSynchronous, 33), 30, 0, 3, 0);
  ExpectStretch(After(kSynchronous, 34), 30, 30, 4, 0);
  ExpectStretch(After(kSynchronous, 50), 46, 30, 4, 0);
  ExpectStretch(After(kSynchronous, 3 * 34 + 32), 120, 90, 14, 0);
}

// Steps at half the speed for 8 s: a cycle of 30 s of work takes 34 s, and 1 s of snapshot.
TEST(Stretch, AsynchronousCheckpointsCountWhenTheyAreWritten) {
  ExpectStretch(After(kAsynchronous, 31), 30, 0, 1, 0);
  ExpectStretch(After(kAsynchronous, 37), 33, 0, 1, 3);
  ExpectStretch(After(kAsynchronous, 39), 34, 30, 1, 4);
  ExpectStretch(After(kAsynchronous, 65), 60, 30, 1, 4);
  ExpectStretch(After(kAsynchronous, 66), 60, 30, 2, 4);
  ExpectStretch(After(kAsynchronous, 66 + 9), 65, 60, 2, 8);
}

TEST(Stretch, PartsAddUp) {
  for (const Schedule& schedule : {kSynchronous, kAsynchronous}) {
    double kept = 0;
    for (double seconds = 0; seconds < 500; seconds += 0.7) {
      const Stretch stretch = After(schedule, seconds);
      EXPECT_NEAR(stretch.done + stretch.saving + stretch.interference, seconds, 1e-9);
      EXPECT_LE(stretch.kept, stretch.done + 1e-9);
      EXPECT_GE(stretch.kept, kept);  // a checkpoint stays
      kept = stretch.kept;
    }
  }
}

TEST(Stretch, AWriteEndsBeforeTheNextOne) {
  EXPECT_TRUE(IsPossible(kAsynchronous));
  EXPECT_TRUE(IsPossible({10, 10, 1, 0, 10}));
  EXPECT_FALSE(IsPossible({10, 10, 1, 0, 11}));
  EXPECT_TRUE(IsPossible({10, 10, 1, 100, 0}));
}

TEST(Stretch, TheNextCheckpointKeepsAll) {
  for (const Schedule& schedule : {kSynchronous, kAsynchronous}) {
    for (double seconds = 0; seconds < 300; seconds += 3.3) {
      const double end = EndOfCheckpointAfter(schedule, seconds);
      EXPECT_GE(end, seconds);
      EXPECT_GE(After(schedule, end).kept + 1e-9, After(schedule, seconds).kept);
      EXPECT_GT(After(schedule, end + 1e-6).kept, 0);
    }
  }
  EXPECT_DOUBLE_EQ(EndOfCheckpointAfter(kSynchronous, 35), 68);
}

}  // namespace
}  // namespace drydock
