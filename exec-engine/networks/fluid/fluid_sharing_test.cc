#include "exec-engine/networks/fluid/fluid_sharing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace drydock {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Uses = std::vector<FluidSharing::Use>;

constexpr uint32_t kAll = FluidSharing::kWhole;
constexpr int64_t kG = 1'000'000'000;

Uses Over(std::initializer_list<uint32_t> links) {
  Uses uses;
  for (const uint32_t link : links) uses.push_back({link, kAll, 0});
  return uses;
}

uint32_t Start(FluidSharing* sharing, std::initializer_list<uint32_t> links,
               int64_t limit = FluidSharing::kNoLimit) {
  const uint32_t flow = sharing->AddFlow(Over(links), {}, limit);
  sharing->Begin(flow);
  return flow;
}

TEST(FluidSharingTest, AFlowAloneHasTheRateOfItsSlowestLink) {
  FluidSharing sharing({400 * kG, 100 * kG});
  const uint32_t flow = Start(&sharing, {0, 1});
  EXPECT_EQ(sharing.Solve(), std::vector<uint32_t>{flow});
  EXPECT_EQ(sharing.rate(flow), 100 * kG);
  EXPECT_EQ(sharing.counts().solutions, 0) << "no flows share a link";
}

// Bertsekas and Gallager, Data Networks, 6.5.2: one long flow over three links, and short ones.
TEST(FluidSharingTest, ParkingLot) {
  FluidSharing sharing({100 * kG, 100 * kG, 200 * kG});
  const uint32_t all = Start(&sharing, {0, 1, 2});
  const uint32_t first = Start(&sharing, {0});
  const uint32_t second = Start(&sharing, {1}), third = Start(&sharing, {1});
  const uint32_t last = Start(&sharing, {2});
  sharing.Solve();
  EXPECT_EQ(sharing.rate(all), 100 * kG / 3) << "limited by the link with three flows";
  EXPECT_EQ(sharing.rate(second), 100 * kG / 3);
  EXPECT_EQ(sharing.rate(third), 100 * kG / 3);
  EXPECT_EQ(sharing.rate(first), 100 * kG - 100 * kG / 3) << "the rest of the link";
  EXPECT_EQ(sharing.rate(last), 200 * kG - 100 * kG / 3);
  sharing.End(second);
  sharing.Solve();
  EXPECT_EQ(sharing.rate(all), 50 * kG);
  EXPECT_EQ(sharing.rate(first), 50 * kG);
  EXPECT_EQ(sharing.rate(second), 0);
}

TEST(FluidSharingTest, ALimitedFlowLeavesMoreToOthers) {
  FluidSharing sharing({100 * kG});
  const uint32_t slow = Start(&sharing, {0}, 10 * kG), fast = Start(&sharing, {0});
  sharing.Solve();
  EXPECT_EQ(sharing.rate(slow), 10 * kG);
  EXPECT_EQ(sharing.rate(fast), 90 * kG);
}

// A flow whose bits are spread over two paths.
TEST(FluidSharingTest, AFlowOverTwoPathsHasTheRateOfASingleFlow) {
  FluidSharing sharing({400 * kG, 100 * kG, 100 * kG});
  const Uses uses = {{0, kAll, 0}, {1, kAll / 2, 0}, {2, kAll / 2, 0}};
  const uint32_t flow = sharing.AddFlow(uses, {}, FluidSharing::kNoLimit);
  sharing.Begin(flow);
  const uint32_t other = Start(&sharing, {2});
  sharing.Solve();
  EXPECT_EQ(sharing.rate(flow), int64_t{100} * kG * 2 / 3)
      << "whole rates are equal, not the shares of one link";
  EXPECT_EQ(sharing.rate(other), int64_t{100} * kG * 2 / 3);
}

// The acknowledgements of each flow take a tenth of its rate on the link of the other: r + r / 10 =
// C.
TEST(FluidSharingTest, AcknowledgementsTakeTheirShare) {
  FluidSharing sharing({100 * kG, 100 * kG});
  const uint32_t tenth = kAll / 10;
  const uint32_t there = sharing.AddFlow(Over({0}), Uses{{1, tenth, 0}}, FluidSharing::kNoLimit);
  const uint32_t back = sharing.AddFlow(Over({1}), Uses{{0, tenth, 0}}, FluidSharing::kNoLimit);
  sharing.Begin(there);
  sharing.Solve();
  EXPECT_EQ(sharing.rate(there), 100 * kG);
  sharing.Begin(back);
  sharing.Solve();
  const double fair = 100e9 / 1.1;
  EXPECT_NEAR(static_cast<double>(sharing.rate(there)), fair, fair / 64);
  EXPECT_NEAR(static_cast<double>(sharing.rate(back)), fair, fair / 64);
}

TEST(FluidSharingTest, AFlowAtItsFirstLinkSharesNoOther) {
  FluidSharing sharing({400 * kG, 100 * kG});
  const uint32_t other = Start(&sharing, {1});
  const uint32_t flow = sharing.AddFlow(Over({0, 1}), {}, FluidSharing::kNoLimit);
  sharing.BeginAtFirstLink(flow, FluidSharing::kNoLimit);
  const uint32_t beside = Start(&sharing, {0});
  sharing.Solve();
  EXPECT_EQ(sharing.rate(flow), 200 * kG);
  EXPECT_EQ(sharing.rate(beside), 200 * kG);
  EXPECT_EQ(sharing.rate(other), 100 * kG);
  EXPECT_EQ(sharing.flows_on(1), 1u);
  EXPECT_EQ(sharing.bound(flow), 100 * kG) << "on its whole path";
  sharing.End(flow);
  sharing.BeginAtFirstLink(flow, 30 * kG);
  sharing.Solve();
  EXPECT_EQ(sharing.rate(flow), 30 * kG) << "its pace";
  EXPECT_EQ(sharing.rate(beside), 370 * kG);
  sharing.End(flow);
  sharing.Begin(flow);
  sharing.Solve();
  EXPECT_EQ(sharing.rate(flow), 50 * kG);
  EXPECT_EQ(sharing.rate(other), 50 * kG);
}

TEST(FluidSharingTest, ReservedCapacityIsNotShared) {
  FluidSharing sharing({100 * kG});
  const uint32_t one = Start(&sharing, {0}), two = Start(&sharing, {0});
  sharing.Reserve(0, 60 * kG);
  sharing.Solve();
  EXPECT_EQ(sharing.rate(one), 20 * kG);
  sharing.Reserve(0, 100 * kG);
  EXPECT_THAT(sharing.Solve(), UnorderedElementsAre(one, two));
  EXPECT_EQ(sharing.rate(one), 0);
  sharing.Reserve(0, 0);
  sharing.Solve();
  EXPECT_EQ(sharing.rate(two), 50 * kG);
}

// Repeatedly, and with a single flow, which needs no water-filling.
TEST(FluidSharingTest, ReservationsCanBeReleased) {
  FluidSharing sharing({100 * kG});
  const uint32_t flow = Start(&sharing, {0});
  sharing.Solve();
  for (int i = 0; i < 4; ++i) {
    for (const int64_t reserved : {100 * kG, int64_t{0}}) {
      sharing.Reserve(0, reserved);
      sharing.Solve();
      ASSERT_EQ(sharing.rate(flow), 100 * kG - reserved) << i;
    }
  }
}

TEST(FluidSharingTest, ALinkGoesDownAndComesBack) {
  FluidSharing sharing({100 * kG, 100 * kG});
  const uint32_t flow = Start(&sharing, {0, 1}), other = Start(&sharing, {1});
  sharing.Solve();
  sharing.SetCapacity(0, 0);
  sharing.Solve();
  EXPECT_EQ(sharing.rate(flow), 0);
  EXPECT_EQ(sharing.rate(other), 100 * kG);
  sharing.SetCapacity(0, 20 * kG);
  sharing.Solve();
  EXPECT_EQ(sharing.rate(flow), 20 * kG);
  EXPECT_EQ(sharing.rate(other), 80 * kG);
  sharing.Move(flow, Over({1}), {});
  sharing.Solve();
  EXPECT_EQ(sharing.rate(flow), 50 * kG);
}

// The caller must learn of a rate that becomes 0 by the move.
TEST(FluidSharingTest, MovingAFlowReportsChangesOfItsRate) {
  FluidSharing sharing({100 * kG, 100 * kG, 0});
  const uint32_t flow = sharing.AddFlow(Over({0}), Uses{{1, kAll / 2, 0}}, FluidSharing::kNoLimit);
  sharing.Begin(flow);
  const uint32_t back = Start(&sharing, {1});
  sharing.Solve();
  EXPECT_EQ(sharing.rate(back), 50 * kG) << "acknowledgements take the other half";
  sharing.Move(flow, Over({2}), {});
  EXPECT_THAT(sharing.Solve(), UnorderedElementsAre(flow, back));
  EXPECT_EQ(sharing.rate(flow), 0);
  EXPECT_EQ(sharing.rate(back), 100 * kG);
  sharing.Move(flow, {}, {});
  EXPECT_THAT(sharing.Solve(), IsEmpty()) << "the rate was 0 before";
}

// The definition: no link is overfull, and each flow has a full link on which no flow has a higher
// rate. Flows in `at_first` share only their first link.
void ExpectFair(const FluidSharing& sharing, const std::vector<int64_t>& capacities,
                const std::set<uint32_t>& active, const std::set<uint32_t>& at_first) {
  std::vector<int64_t> load(capacities.size()), highest(capacities.size());
  const auto uses = [&](uint32_t flow) {
    return sharing.data(flow).first(at_first.contains(flow) ? 1 : sharing.data(flow).size());
  };
  for (const uint32_t flow : active) {
    for (const FluidSharing::Use& use : uses(flow)) {
      load[use.link] += sharing.rate(flow);
      highest[use.link] = std::max(highest[use.link], sharing.rate(flow));
    }
  }
  for (size_t link = 0; link < load.size(); ++link) ASSERT_LE(load[link], capacities[link]);
  const auto rounding = static_cast<int64_t>(active.size());
  for (const uint32_t flow : active) {
    bool limited = false;
    for (const FluidSharing::Use& use : uses(flow)) {
      limited |= load[use.link] + rounding >= capacities[use.link] &&
                 sharing.rate(flow) + rounding >= highest[use.link];
    }
    ASSERT_TRUE(limited) << "flow " << flow << " could exceed " << sharing.rate(flow);
  }
}

TEST(FluidSharingTest, IsFairAfterEachOfManyRandomChanges) {
  std::mt19937 random(7);
  std::vector<int64_t> capacities;
  for (int i = 0; i < 40; ++i) capacities.push_back((1 + random() % 8) * 50 * kG);
  FluidSharing sharing(capacities);
  for (int i = 0; i < 120; ++i) {
    std::set<uint32_t> links;
    while (links.size() < 1 + static_cast<size_t>(i) % 4)
      links.insert(random() % capacities.size());
    Uses uses;
    for (const uint32_t link : links) uses.push_back({link, kAll, 0});
    sharing.AddFlow(uses, {}, FluidSharing::kNoLimit);
  }
  std::set<uint32_t> active, at_first;
  std::vector<int64_t> reserved(capacities.size());
  for (int change = 0; change < 3000; ++change) {
    const uint32_t flow = random() % 120;
    if (active.erase(flow) > 0) {
      sharing.End(flow);
      at_first.erase(flow);
    } else if (active.insert(flow); random() % 3 == 0) {
      sharing.BeginAtFirstLink(flow, FluidSharing::kNoLimit);
      at_first.insert(flow);
    } else {
      sharing.Begin(flow);
    }
    const uint32_t link = random() % capacities.size();
    if (change % 100 == 0) {
      capacities[link] = (1 + random() % 8) * 50 * kG;
      sharing.SetCapacity(link, capacities[link]);
    } else if (change % 10 == 0) {
      reserved[link] = random() % 10 * 20 * kG;
      sharing.Reserve(link, reserved[link]);
    }
    if (random() % 3 == 0) continue;  // several changes at once
    sharing.Solve();
    std::vector<int64_t> left = capacities;
    for (size_t i = 0; i < left.size(); ++i) left[i] = std::max<int64_t>(left[i] - reserved[i], 0);
    ExpectFair(sharing, left, active, at_first);
  }
  EXPECT_LT(sharing.counts().flows, sharing.counts().solutions * 120) << "solutions are partial";
}

// Hosts with links to and from a switch. Flows between random hosts begin and end. Incremental
// solutions equal the solution of the whole network, up to rounding.
TEST(FluidSharingTest, IncrementalSolutionsEqualTheWholeSolution) {
  constexpr uint32_t kHosts = 12, kFlows = 150;
  std::mt19937 random(11);
  const std::vector<int64_t> capacities(2 * kHosts, 400 * kG);
  std::vector<Uses> paths;
  std::vector<int64_t> limits;
  FluidSharing one_by_one(capacities);
  for (uint32_t i = 0; i < kFlows; ++i) {
    const uint32_t from = random() % kHosts, to = (from + 1 + random() % (kHosts - 1)) % kHosts;
    paths.push_back(Over({from, kHosts + to}));
    limits.push_back(random() % 3 == 0 ? (1 + random() % 90) * kG : FluidSharing::kNoLimit);
    one_by_one.AddFlow(paths[i], {}, limits[i]);
  }
  std::set<uint32_t> active;
  for (int change = 0; change < 2000; ++change) {
    const uint32_t flow = random() % kFlows;
    if (active.erase(flow) > 0) {
      one_by_one.End(flow);
    } else {
      one_by_one.Begin(flow);
      active.insert(flow);
    }
    one_by_one.Solve();
    FluidSharing at_once(capacities);
    for (uint32_t i = 0; i < kFlows; ++i) at_once.AddFlow(paths[i], {}, limits[i]);
    for (const uint32_t each : active) at_once.Begin(each);
    at_once.Solve();
    for (const uint32_t each : active) {
      ASSERT_NEAR(static_cast<double>(one_by_one.rate(each)),
                  static_cast<double>(at_once.rate(each)), kFlows)
          << "change " << change << ", flow " << each;
    }
  }
}

// A ring of hosts, each of which sends four flows to the next. One more flow slows down the four
// flows of its first link and the four of its last, and no others.
TEST(FluidSharingTest, OnlyFlowsWhoseRatesChangeAreSolved) {
  constexpr uint32_t kHosts = 32;
  FluidSharing sharing(std::vector<int64_t>(2 * kHosts, 400 * kG));
  for (uint32_t host = 0; host < kHosts; ++host) {
    for (int i = 0; i < 4; ++i) Start(&sharing, {host, kHosts + (host + 1) % kHosts});
  }
  sharing.Solve();
  const int64_t before = sharing.counts().flows;
  const uint32_t more = Start(&sharing, {0, kHosts + 5});
  EXPECT_EQ(sharing.Solve().size(), 9u);
  EXPECT_EQ(sharing.counts().flows - before, 9);
  EXPECT_EQ(sharing.rate(more), 80 * kG);
  sharing.End(more);
  EXPECT_EQ(sharing.Solve().size(), 8u);
  EXPECT_EQ(sharing.counts().flows - before, 17);
  EXPECT_EQ(sharing.counts().solutions, 3);
}

}  // namespace
}  // namespace drydock
