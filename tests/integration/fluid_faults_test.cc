// Cables of the fluid network that fail, recover or are slow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/integration/fluid_runs.h"

namespace drydock {
namespace {

TEST(FluidFaultsTest, AFaultDoesNotDelayBytesThatHaveLeft) {
  Topology topology = Star(2, FabricShape());
  const std::vector<Order> orders = {Transfer(0, 1, 4096 * 10)};
  const int64_t alone = Delivered(RunFluid(topology, orders), orders, 0);
  topology.faults = {Fault{Time::Ps(10 * kFullFrame), Fault::Kind::kDown, false, {0}, {}, 0}};
  EXPECT_EQ(Delivered(RunFluid(topology, orders), orders, 0), alone);
}

// Cables 0 and 1 belong to the hosts. A path from leaf to leaf crosses one of two spines.
TEST(FluidFaultsTest, RoutesChangeWhenACableGoesDown) {
  Topology topology = RailFabric(2, 1, 1, 2, FabricShape());
  const std::vector<Order> orders = {Transfer(0, 1, 4096 * 1000)};
  const int64_t alone = Delivered(RunFluid(topology, orders), orders, 0);
  topology.transport.attributes = {{"FaultInjector::RerouteTime", "40 us"}};
  int moved = 0;
  for (int cable = 0; cable < static_cast<int>(topology.fabric.links.size()); ++cable) {
    topology.faults = {Fault{Time::Us(20), Fault::Kind::kDown, false, {cable}, {}, 0}};
    Outcome out;
    const Status status = TryFluid(topology, orders, &out);
    if (!status.ok()) {  // the only cable of a host
      EXPECT_EQ(
          status.error().message(),
          "a message from NIC 0 of host 0 to NIC 0 of host 1, sent at 0 ps, waits for a cable "
          "that stays down");
      continue;
    }
    const int64_t there = Delivered(out, orders, 0);
    if (there == alone) continue;  // this cable belongs to the other spine
    EXPECT_EQ(there, alone + 40'000'000) << "the message stops until the switches reroute";
    ++moved;
  }
  EXPECT_EQ(moved, 2) << "the cables to and from its spine";
}

// As above, with messages that fit into their window, and with a slow cable.
TEST(FluidFaultsTest, SmallMessagesContinueAfterAFault) {
  Topology topology = RailFabric(2, 1, 1, 2, FabricShape());
  std::vector<Order> orders;
  for (int i = 0; i < 100; ++i) orders.push_back(Transfer(0, 1, 4096 * 10));
  const int64_t alone = Delivered(RunFluid(topology, orders), orders, 99);
  topology.transport.attributes = {{"FaultInjector::RerouteTime", "40 us"}};
  int moved = 0, slow = 0;
  for (int cable = 0; cable < static_cast<int>(topology.fabric.links.size()); ++cable) {
    topology.faults = {Fault{Time::Us(20),
                             Fault::Kind::kRate,
                             false,
                             {cable},
                             Bandwidth::BitsPerSecond(100'000'000'000),
                             0},
                       Fault{Time::Us(60), Fault::Kind::kRate, true, {cable}, {}, 0}};
    const int64_t slowly = Delivered(RunFluid(topology, orders), orders, 99);
    if (slowly != alone) {
      EXPECT_NEAR(slowly, alone + 30'000'000, 1'000'000) << "for 40 us at a quarter of the rate";
      ++slow;
    }
    topology.faults = {Fault{Time::Us(20), Fault::Kind::kDown, false, {cable}, {}, 0}};
    Outcome out;
    if (!TryFluid(topology, orders, &out).ok()) continue;  // the only cable of a host
    const int64_t there = Delivered(out, orders, 99);
    if (there == alone) continue;
    EXPECT_NEAR(there, alone + 40'000'000, 1'000'000) << "messages stop until switches reroute";
    ++moved;
  }
  EXPECT_EQ(moved, 2);
  EXPECT_EQ(slow, 4) << "the cables of the hosts are slow too";
}

// Two switches; each NIC has a cable to each switch.
TEST(FluidFaultsTest, FlowsContinueInTheOtherPlane) {
  const FabricShape shape;
  Topology topology = Hosts(2, 1, shape);
  for (int plane = 0; plane < 2; ++plane) {
    const LinkEnd at = AddSwitch(topology, 0, shape);
    for (int host = 0; host < 2; ++host) Cable(topology, NicOf(host, 0), at, shape);
  }
  topology.transport.attributes = {{"FaultInjector::RerouteTime", "40 us"}};
  const std::vector<Order> orders = {Transfer(0, 1, 4096 * 1000)};
  const int64_t alone = Delivered(RunFluid(topology, orders), orders, 0);
  int moved = 0;
  for (int cable = 0; cable < 4; ++cable) {
    topology.faults = {Fault{Time::Us(20), Fault::Kind::kDown, false, {cable}, {}, 0}};
    const int64_t there = Delivered(RunFluid(topology, orders), orders, 0);
    if (there == alone) continue;  // this cable belongs to the other plane
    EXPECT_EQ(there, alone + 40'000'000) << "the message stops until hosts and switches reroute";
    ++moved;
  }
  EXPECT_EQ(moved, 2) << "the cables to and from its switch";
}

// The routes change at the moment at which the cable fails, and no other route exists.
TEST(FluidFaultsTest, ImmediateReroutingDoesNotRepairTheOnlyCable) {
  Topology topology = RailFabric(2, 1, 1, 1, FabricShape());
  topology.transport.attributes = {{"FaultInjector::RerouteTime", "0 ps"}};
  const std::vector<Order> orders = {Transfer(0, 1, 4096 * 1000)};
  const int64_t alone = Delivered(RunFluid(topology, orders), orders, 0);
  for (int cable = 0; cable < static_cast<int>(topology.fabric.links.size()); ++cable) {
    topology.faults = {Fault{Time::Us(20), Fault::Kind::kDown, false, {cable}, {}, 0}};
    Outcome out;
    EXPECT_FALSE(TryFluid(topology, orders, &out).ok()) << cable;
    topology.faults.push_back(Fault{Time::Us(50), Fault::Kind::kDown, true, {cable}, {}, 0});
    EXPECT_EQ(Delivered(RunFluid(topology, orders), orders, 0), alone + 30'000'000) << cable;
  }
}

TEST(FluidFaultsTest, AClearToSendWaitsForItsCable) {
  Topology topology = Star(2, FabricShape());
  std::vector<Order> orders = {Transfer(0, 1, 64, Time::Us(30))};
  orders[0].message.control = true;
  const int64_t alone = Delivered(RunFluid(topology, orders), orders, 0);
  topology.faults = {Fault{Time::Us(20), Fault::Kind::kDown, false, {0}, {}, 0},
                     Fault{Time::Us(50), Fault::Kind::kDown, true, {0}, {}, 0}};
  EXPECT_EQ(Delivered(RunFluid(topology, orders), orders, 0), alone + 20'000'000);
  topology.faults.pop_back();
  Outcome out;
  EXPECT_FALSE(TryFluid(topology, orders, &out).ok());
}

TEST(FluidFaultsTest, ASlowCableSlowsItsMessages) {
  Topology topology = Star(2, FabricShape());
  topology.faults = {Fault{Time::Us(20),
                           Fault::Kind::kRate,
                           false,
                           {0},
                           Bandwidth::BitsPerSecond(100'000'000'000),
                           0},
                     Fault{Time::Us(60), Fault::Kind::kRate, true, {0}, {}, 0}};
  const std::vector<Order> orders = {Transfer(0, 1, 4096 * 1000)};
  const int64_t full = 1000 * kFullFrame + kFullFrame + 2 * kDelay;
  EXPECT_EQ(Delivered(RunFluid(topology, orders), orders, 0), full + 30'000'000)
      << "for 40 us at a quarter of the rate";
}

// For random failures and recoveries, every message arrives, or the error names a message that
// waits.
TEST(FluidFaultsTest, NoMessageIsLostUnderRandomFaults) {
  int ended = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Topology topology = RandomFabric(seed, FabricShape());
    topology.transport.attributes = {{"FaultInjector::RerouteTime", "15 us"}};
    std::mt19937_64 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
    const auto cables = static_cast<int>(topology.fabric.links.size());
    for (int i = below(6); i >= 0; --i) {
      Fault fault{Time::Ns(below(200'000)),
                  below(2) == 0 ? Fault::Kind::kDown : Fault::Kind::kRate,
                  false,
                  {below(cables)},
                  Bandwidth::BitsPerSecond(10'000'000'000),
                  0};
      topology.faults.push_back(fault);
      if (below(3) == 0) continue;
      fault.at += Time::Ns(below(300'000));
      fault.ends = true;
      topology.faults.push_back(fault);
    }
    std::stable_sort(topology.faults.begin(), topology.faults.end(),
                     [](const Fault& a, const Fault& b) { return a.at < b.at; });
    const std::vector<Order> orders = RandomOrders(topology, seed, 300);
    Outcome out;
    const Status status = TryFluid(topology, orders, &out);
    if (!status.ok()) {
      EXPECT_THAT(status.error().message(), testing::EndsWith("waits for a cable that stays down"));
      continue;
    }
    ++ended;
    for (size_t i = 0; i < orders.size(); ++i) {
      ASSERT_GT(Delivered(out, orders, i), orders[i].at.ps()) << seed;
    }
  }
  EXPECT_GT(ended, 100);
}

}  // namespace
}  // namespace drydock
