#include "exec-engine/networks/fluid/fluid_fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace drydock {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr uint32_t kAll = FluidSharing::kWhole;
constexpr int64_t kG = 1'000'000'000, kNoLimit = FluidSharing::kNoLimit;

// Two NICs' links, 0 and 1, and one behind both, 2; all of 100 Gb/s.
class FluidFabricTest : public ::testing::Test {
 protected:
  uint32_t From(uint32_t nic) {
    return fabric_.Add(std::vector<FluidFabric::Use>{{nic, kAll, 0}, {2, kAll, 0}}, {}, kNoLimit);
  }
  std::map<uint32_t, int64_t> Solve(Time now) {
    std::map<uint32_t, int64_t> rates;
    fabric_.Solve(now, [&](uint32_t pair, int64_t rate) { rates[pair] = rate; });
    return rates;
  }
  FluidFabric fabric_{{100 * kG, 100 * kG, 100 * kG}};
  const uint32_t one_ = From(0), other_ = From(1);
};

TEST_F(FluidFabricTest, WhatGoesAheadWaitsBehindWhatCameBefore) {
  for (const uint32_t pair : {one_, other_}) {
    ASSERT_TRUE(fabric_.MayGoAhead(pair));
    fabric_.BeginAhead(pair, kNoLimit);
  }
  EXPECT_EQ(Solve(Time()), (std::map<uint32_t, int64_t>{{one_, 100 * kG}, {other_, 100 * kG}}));
  EXPECT_EQ(fabric_.Wait(one_, Time::Us(1)), Time::Us(1)) << "what the link does not take";
  fabric_.End(other_, Time::Us(1));
  EXPECT_EQ(fabric_.Wait(one_, Time::Us(3)), Time::Us(1));
  fabric_.End(one_, Time::Us(3));
  EXPECT_THAT(fabric_.TakeDrains(), IsEmpty()) << "nobody shares";
}

TEST_F(FluidFabricTest, WhereSomebodySharesNobodyGoesAhead) {
  const uint32_t beside = fabric_.Add(std::vector<FluidFabric::Use>{{0, kAll, 0}}, {}, kNoLimit);
  fabric_.Begin(beside, Time());
  EXPECT_TRUE(fabric_.MayGoAhead(one_)) << "its NIC it shares anyway";
  fabric_.Begin(other_, Time());
  EXPECT_FALSE(fabric_.MayGoAhead(one_));
  fabric_.End(other_, Time::Us(1));
  EXPECT_TRUE(fabric_.MayGoAhead(one_));
}

// Twice as much as the link takes came for 4 us: it is busy with it for 4 more.
TEST_F(FluidFabricTest, WhatSharesWaitsUntilTheQueueIsGone) {
  const uint32_t third = From(1);
  for (const uint32_t pair : {one_, other_}) {
    fabric_.BeginAhead(pair, kNoLimit);
  }
  Solve(Time());
  fabric_.End(one_, Time::Us(4));
  fabric_.End(other_, Time::Us(4));
  fabric_.Begin(third, Time::Us(4));
  EXPECT_THAT(Solve(Time::Us(4)), IsEmpty()) << "it has nothing, as before";
  EXPECT_THAT(fabric_.TakeDrains(), ElementsAre(Pair(2, Time::Us(8))));
  fabric_.Drained(2, Time::Us(7));
  EXPECT_TRUE(fabric_.settled()) << "that is not yet";
  fabric_.Drained(2, Time::Us(8));
  EXPECT_EQ(Solve(Time::Us(8)), (std::map<uint32_t, int64_t>{{third, 100 * kG}}));
  EXPECT_THAT(fabric_.TakeDrains(), IsEmpty());
}

// The queue of another link is another: what moves there finds it.
TEST_F(FluidFabricTest, WhatMovesWaitsForTheQueueThere) {
  const uint32_t mover = fabric_.Add(std::vector<FluidFabric::Use>{{1, kAll, 0}}, {}, kNoLimit);
  const uint32_t third = From(1);
  for (const uint32_t pair : {one_, third}) fabric_.BeginAhead(pair, kNoLimit);
  fabric_.Begin(mover, Time());
  Solve(Time());
  const Time now = Time::Us(4);
  EXPECT_THAT(fabric_.HoldBack(now), ElementsAre(one_, third));
  for (const uint32_t pair : {one_, third}) fabric_.End(pair, now);
  fabric_.Move(mover, std::vector<FluidFabric::Use>{{2, kAll, 0}}, {}, now);
  EXPECT_EQ(Solve(now), (std::map<uint32_t, int64_t>{{mover, 0}}));
  EXPECT_THAT(fabric_.TakeDrains(), Contains(Pair(2, Time::Us(6))));
  fabric_.Drained(2, Time::Us(6));
  EXPECT_EQ(Solve(Time::Us(6)), (std::map<uint32_t, int64_t>{{mover, 100 * kG}}));
}

TEST_F(FluidFabricTest, WhatIsHeldBackShares) {
  fabric_.BeginAhead(one_, 30 * kG);
  Solve(Time());
  EXPECT_THAT(fabric_.HoldBack(Time::Us(1)), ElementsAre(one_));
  fabric_.SetCapacity(2, 0, Time::Us(1));
  Solve(Time::Us(1));
  EXPECT_FALSE(fabric_.MayGoAhead(other_)) << "its way is cut";
  fabric_.SetCapacity(2, 40 * kG, Time::Us(2));
  EXPECT_EQ(Solve(Time::Us(2)), (std::map<uint32_t, int64_t>{{one_, 40 * kG}}));
  EXPECT_THAT(fabric_.HoldBack(Time::Us(2)), IsEmpty());
}

}  // namespace
}  // namespace drydock
