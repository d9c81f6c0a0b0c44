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

// The links of two NICs, 0 and 1, lead to link 2. All have 100 Gb/s.
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

TEST_F(FluidFabricTest, APartThatBypassesWaitsForTheBacklog) {
  for (const uint32_t pair : {one_, other_}) {
    ASSERT_TRUE(fabric_.MayBypass(pair));
    fabric_.BeginBypassing(pair, kNoLimit);
  }
  EXPECT_EQ(Solve(Time()), (std::map<uint32_t, int64_t>{{one_, 100 * kG}, {other_, 100 * kG}}));
  EXPECT_EQ(fabric_.Wait(one_, Time::Us(1)), Time::Us(1)) << "what exceeds the capacity";
  fabric_.End(other_, Time::Us(1));
  EXPECT_EQ(fabric_.Wait(one_, Time::Us(3)), Time::Us(1));
  fabric_.End(one_, Time::Us(3));
  EXPECT_THAT(fabric_.TakeDrains(), IsEmpty()) << "no flow shares";
}

TEST_F(FluidFabricTest, NoPartBypassesASharedLink) {
  const uint32_t beside = fabric_.Add(std::vector<FluidFabric::Use>{{0, kAll, 0}}, {}, kNoLimit);
  fabric_.Begin(beside, Time());
  EXPECT_TRUE(fabric_.MayBypass(one_)) << "it shares its NIC in any case";
  fabric_.Begin(other_, Time());
  EXPECT_FALSE(fabric_.MayBypass(one_));
  fabric_.End(other_, Time::Us(1));
  EXPECT_TRUE(fabric_.MayBypass(one_));
}

// Twice the capacity of the link arrives for 4 us. The backlog takes 4 us more.
TEST_F(FluidFabricTest, ASharingFlowWaitsUntilTheBacklogHasDrained) {
  const uint32_t third = From(1);
  for (const uint32_t pair : {one_, other_}) {
    fabric_.BeginBypassing(pair, kNoLimit);
  }
  Solve(Time());
  fabric_.End(one_, Time::Us(4));
  fabric_.End(other_, Time::Us(4));
  fabric_.Begin(third, Time::Us(4));
  EXPECT_THAT(Solve(Time::Us(4)), IsEmpty()) << "its rate stays 0";
  EXPECT_THAT(fabric_.TakeDrains(), ElementsAre(Pair(2, Time::Us(8))));
  fabric_.Drained(2, Time::Us(7));
  EXPECT_TRUE(fabric_.settled()) << "it has not drained yet";
  fabric_.Drained(2, Time::Us(8));
  EXPECT_EQ(Solve(Time::Us(8)), (std::map<uint32_t, int64_t>{{third, 100 * kG}}));
  EXPECT_THAT(fabric_.TakeDrains(), IsEmpty());
}

// A flow that moves to a link finds the backlog of that link.
TEST_F(FluidFabricTest, AFlowThatMovesWaitsForTheBacklogOfItsNewLink) {
  const uint32_t mover = fabric_.Add(std::vector<FluidFabric::Use>{{1, kAll, 0}}, {}, kNoLimit);
  const uint32_t third = From(1);
  for (const uint32_t pair : {one_, third}) fabric_.BeginBypassing(pair, kNoLimit);
  fabric_.Begin(mover, Time());
  Solve(Time());
  const Time now = Time::Us(4);
  EXPECT_THAT(fabric_.StopBypassing(now), ElementsAre(one_, third));
  for (const uint32_t pair : {one_, third}) fabric_.End(pair, now);
  fabric_.Move(mover, std::vector<FluidFabric::Use>{{2, kAll, 0}}, {}, now);
  EXPECT_EQ(Solve(now), (std::map<uint32_t, int64_t>{{mover, 0}}));
  EXPECT_THAT(fabric_.TakeDrains(), Contains(Pair(2, Time::Us(6))));
  fabric_.Drained(2, Time::Us(6));
  EXPECT_EQ(Solve(Time::Us(6)), (std::map<uint32_t, int64_t>{{mover, 100 * kG}}));
}

TEST_F(FluidFabricTest, PartsShareAfterStopBypassing) {
  fabric_.BeginBypassing(one_, 30 * kG);
  Solve(Time());
  EXPECT_THAT(fabric_.StopBypassing(Time::Us(1)), ElementsAre(one_));
  fabric_.SetCapacity(2, 0, Time::Us(1));
  Solve(Time::Us(1));
  EXPECT_FALSE(fabric_.MayBypass(other_)) << "its path is down";
  fabric_.SetCapacity(2, 40 * kG, Time::Us(2));
  EXPECT_EQ(Solve(Time::Us(2)), (std::map<uint32_t, int64_t>{{one_, 40 * kG}}));
  EXPECT_THAT(fabric_.StopBypassing(Time::Us(2)), IsEmpty());
}

}  // namespace
}  // namespace drydock
