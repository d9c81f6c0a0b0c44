#include "exec-engine/networks/fluid/fluid_backlogs.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace drydock {
namespace {

constexpr int64_t kG = 1'000'000'000;

TEST(FluidBacklogsTest, ALinkWithEnoughCapacityHasNoBacklog) {
  FluidBacklogs queues({100 * kG});
  queues.Arrive(0, 60 * kG, Time());
  queues.Arrive(0, 40 * kG, Time::Us(1));
  EXPECT_EQ(queues.Wait(0, Time::Us(5)), Time());
  EXPECT_EQ(queues.SendingRate(0, Time::Us(5)), 100 * kG);
  EXPECT_EQ(queues.DrainTime(0, Time::Us(5)), Time::Us(5));
}

// Twice the capacity arrives for 10 us, which leaves a backlog of 10 us. Then half the capacity
// arrives, so that the backlog lasts 20 us.
TEST(FluidBacklogsTest, ABacklogGrowsAndShrinks) {
  FluidBacklogs queues({100 * kG, 100 * kG});
  queues.Arrive(1, 200 * kG, Time::Us(3));
  EXPECT_EQ(queues.Wait(1, Time::Us(4)), Time::Us(1));
  EXPECT_EQ(queues.DrainTime(1, Time::Us(4)), Time::Max());
  queues.Arrive(1, -150 * kG, Time::Us(13));
  EXPECT_EQ(queues.Wait(1, Time::Us(13)), Time::Us(10));
  EXPECT_EQ(queues.SendingRate(1, Time::Us(13)), 100 * kG) << "its capacity";
  EXPECT_EQ(queues.DrainTime(1, Time::Us(13)), Time::Us(33));
  EXPECT_EQ(queues.Wait(1, Time::Us(23)), Time::Us(5));
  EXPECT_EQ(queues.Wait(1, Time::Us(40)), Time());
  EXPECT_EQ(queues.SendingRate(1, Time::Us(40)), 50 * kG) << "the rate of arrival";
  EXPECT_EQ(queues.Wait(0, Time::Us(40)), Time()) << "the other link has no arrivals";
}

TEST(FluidBacklogsTest, AFasterLinkDrainsSooner) {
  FluidBacklogs queues({100 * kG});
  queues.Arrive(0, 300 * kG, Time());
  queues.Arrive(0, -300 * kG, Time::Us(10));
  EXPECT_EQ(queues.Wait(0, Time::Us(10)), Time::Us(20));
  queues.SetCapacity(0, 400 * kG, Time::Us(10));
  EXPECT_EQ(queues.Wait(0, Time::Us(10)), Time::Us(5));
  queues.SetCapacity(0, 0, Time::Us(11));
  EXPECT_EQ(queues.DrainTime(0, Time::Us(12)), Time::Max()) << "down";
  queues.SetCapacity(0, 1, Time::Us(12));
  EXPECT_EQ(queues.DrainTime(0, Time::Us(12)), Time::Us(12) + Time::Us(1'600'000'000'000));
  queues.Arrive(0, 400'000 * kG, Time::Us(12));
  queues.Arrive(0, -400'000 * kG, Time::Us(1'000'012));
  EXPECT_EQ(queues.DrainTime(0, Time::Us(1'000'012)), Time::Max()) << "does not fit into a time";
}

// Compares with a queue that is simulated nanosecond by nanosecond.
TEST(FluidBacklogsTest, EqualsAQueueSimulatedInSmallSteps) {
  std::mt19937 random(3);
  FluidBacklogs queues({100 * kG});
  std::vector<int64_t> rates;
  int64_t bits = 0, arriving = 0;
  for (int ns = 0; ns < 100'000; ++ns) {
    if (random() % 50 == 0) {
      const bool ends = rates.size() > 4 || (!rates.empty() && random() % 2 == 0);
      const auto rate = ends ? rates.back() : static_cast<int64_t>(1 + random() % 40) * kG;
      if (ends) {
        rates.pop_back();
      } else {
        rates.push_back(rate);
      }
      arriving += ends ? -rate : rate;
      queues.Arrive(0, ends ? -rate : rate, Time::Ns(ns));
    }
    ASSERT_EQ(queues.Wait(0, Time::Ns(ns)), Time::Ps(bits * 10)) << ns;
    bits = std::max<int64_t>(bits + (arriving - 100 * kG) / kG, 0);
  }
}

}  // namespace
}  // namespace drydock
