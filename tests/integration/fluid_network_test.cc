// Is the fluid network what the packet network is without queues? Messages alone, to the
// picosecond; sharing, where theory says what it is.
#include "exec-engine/fluid_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/base/check.h"
#include "ns3-backend/test/test_fabrics.h"

namespace drydock {
namespace {

constexpr int64_t kPsPerByte = 20;  // at 400 Gbps
constexpr int64_t kFullFrame = (4096 + 82) * kPsPerByte;
constexpr int64_t kDelay = 500'000;

Status TryFluid(const Topology& topology, std::vector<Order> orders, Outcome* outcome,
                int threads = 1) {
  NetworkOptions options;
  options.threads = threads;
  ASSIGN_OR_RETURN(const auto network, MakeFluidNetwork(topology, options));
  const Status status = RunOrders(topology, network.get(), std::move(orders), &outcome->notices);
  outcome->counters = network->Counters();
  return status;
}

Outcome RunFluid(const Topology& topology, std::vector<Order> orders, int threads = 1) {
  Outcome outcome;
  const Status status = TryFluid(topology, std::move(orders), &outcome, threads);
  CHECK_NOTE(status.ok(), status.ok() ? "" : status.error().message());
  return outcome;
}

int64_t Delivered(const Outcome& outcome, const std::vector<Order>& orders, size_t i) {
  return outcome.TimeOf(Notice::kDelivered, orders[i].message.source, i);
}

// Every notice of every message, at the same time.
void ExpectSame(const Topology& topology, const std::vector<Order>& orders) {
  const Outcome fluid = RunFluid(topology, orders), packets = RunPackets(topology, orders);
  for (size_t host = 0; host < packets.notices.size(); ++host) {
    ASSERT_EQ(fluid.notices[host].size(), packets.notices[host].size());
    for (size_t i = 0; i < packets.notices[host].size(); ++i) {
      const Notice &one = fluid.notices[host][i], &other = packets.notices[host][i];
      EXPECT_EQ(one.time.ps(), other.time.ps()) << "host " << host << " notice " << i;
      EXPECT_EQ(one, other);
    }
  }
}

TEST(FluidNetworkTest, AMessageAloneIsThatOfThePacketNetwork) {
  FabricShape shape;
  shape.switch_latency = Time::Ns(250);
  shape.nic_latency = Time::Ns(700);
  for (const int64_t bytes : {int64_t{1}, int64_t{4096}, int64_t{4097}, int64_t{1} << 20}) {
    for (const int switches : {1, 2, 5}) {
      ExpectSame(Chain(switches, shape), {Transfer(0, 1, bytes, Time::Us(3))});
    }
    ExpectSame(TwoHosts(shape), {Transfer(0, 1, bytes)});
    ExpectSame(FatTree(4, shape), {Transfer(0, 15, bytes, Time(), 5)});
    Topology slow = Chain(2, shape);
    slow.fabric.links[1].rate = Bandwidth::BitsPerSecond(100'000'000'000);
    ExpectSame(slow, {Transfer(0, 1, bytes)});
    Topology cut = Chain(3, shape);
    cut.transport.attributes = {{"FabricSwitch::CutThrough", "64"}};
    ExpectSame(cut, {Transfer(0, 1, bytes)});
  }
}

TEST(FluidNetworkTest, MessagesOfAQueuePairFollowEachOther) {
  ExpectSame(Chain(2, FabricShape()),
             {Transfer(0, 1, 4096 * 100), Transfer(0, 1, 4096 * 10), Transfer(0, 1, 4096 * 50)});
}

TEST(FluidNetworkTest, SeveralQueuePairsAConnection) {
  for (const char* split : {"0", "1"}) {
    Topology topology = Chain(2, FabricShape());
    topology.nccl_settings = {{"NCCL_IB_QPS_PER_CONNECTION", "4"},
                              {"NCCL_IB_SPLIT_DATA_ON_QPS", split}};
    std::vector<Order> orders;
    for (int i = 0; i < 8; ++i) orders.push_back(Transfer(0, 1, 4096 * 64));
    const Outcome fluid = RunFluid(topology, orders), packets = RunPackets(topology, orders);
    for (size_t i = 0; i < orders.size(); ++i) {
      const int64_t round = 4 * 4 * kFullFrame;  // what turns of packets differ by
      EXPECT_NEAR(Delivered(fluid, orders, i), Delivered(packets, orders, i), round) << i;
    }
  }
}

TEST(FluidNetworkTest, TwoQueuePairsShareAPort) {
  const std::vector<Order> orders = {Transfer(0, 1, 4096 * 100, Time(), 1),
                                     Transfer(0, 1, 4096 * 100, Time(), 2)};
  const Outcome out = RunFluid(TwoHosts(FabricShape()), orders);
  EXPECT_EQ(Delivered(out, orders, 0), 200 * kFullFrame + kDelay);
  EXPECT_EQ(Delivered(out, orders, 1), 200 * kFullFrame + kDelay);
}

TEST(FluidNetworkTest, IncastSharesTheLastLink) {
  const int senders = 8, packets = 200;
  std::vector<Order> orders;
  for (int i = 1; i <= senders; ++i) orders.push_back(Transfer(i, 0, 4096 * packets));
  const Outcome out = RunFluid(Star(senders + 1, FabricShape()), orders);
  for (size_t i = 0; i < orders.size(); ++i) {
    EXPECT_EQ(Delivered(out, orders, i), kFullFrame + 2 * kDelay + senders * packets * kFullFrame)
        << "the time of the last in the packet network (packet_network_test.cc)";
  }
}

// Messages that fit into their windows, from two hosts to a third, each of a queue pair of its own
// and a little later than the one before: their NICs are rid of them, and they arrive in the order
// in which they came to the switch, not all at the end.
TEST(FluidNetworkTest, WhatFitsIntoItsWindowWaitsInTurn) {
  FabricShape shape;
  shape.switch_latency = Time::Ns(250);
  const Topology topology = Star(3, shape);
  std::vector<Order> orders;
  for (int i = 0; i < 40; ++i) {
    const Time at = Time::Ns(1600) * (i / 2);
    orders.push_back(Transfer(1 + i % 2, 0, 4096 * 16, at, static_cast<uint32_t>(i)));
  }
  const Outcome fluid = RunFluid(topology, orders), packets = RunPackets(topology, orders);
  for (size_t i = 0; i < orders.size(); ++i) {
    EXPECT_NEAR(Delivered(fluid, orders, i), Delivered(packets, orders, i), 2 * kFullFrame) << i;
  }
  const int64_t behind = Delivered(packets, orders, 38) - Delivered(packets, orders, 0);
  EXPECT_EQ(behind, 38 * 16 * kFullFrame) << "the switch's port was never idle";
}

// Beside a larger message each has its share, as if it were one: too early, for in a switch ten of
// them come in at the rate of one NIC, as the larger one does.
TEST(FluidNetworkTest, WhatFitsIntoItsWindowSharesWithWhatDoesNot) {
  const Topology topology = Star(3, FabricShape());
  std::vector<Order> orders = {Transfer(1, 0, 4096 * 1000)};
  for (int i = 0; i < 10; ++i) {
    orders.push_back(Transfer(2, 0, 4096 * 16, Time::Us(10), static_cast<uint32_t>(i)));
  }
  const Outcome fluid = RunFluid(topology, orders), packets = RunPackets(topology, orders);
  EXPECT_NEAR(Delivered(fluid, orders, 0), Delivered(packets, orders, 0), 2 * kFullFrame);
  for (size_t i = 1; i < orders.size(); ++i) {
    const auto here = static_cast<double>(Delivered(fluid, orders, i));
    EXPECT_LT(here, static_cast<double>(Delivered(packets, orders, i))) << i;
    EXPECT_GT(here, static_cast<double>(Delivered(packets, orders, i)) * 0.7) << i;
  }
}

// Two queue pairs have small messages without end: a window each of them waits at the switch, and
// both go at the pace of what is acknowledged.
TEST(FluidNetworkTest, StreamsOfSmallMessagesShareALink) {
  const Topology topology = Star(3, FabricShape());
  std::vector<Order> orders;
  for (int i = 0; i < 100; ++i) {
    for (const HostId from : {1, 2}) orders.push_back(Transfer(from, 0, 4096 * 10));
  }
  const Outcome fluid = RunFluid(topology, orders), packets = RunPackets(topology, orders);
  for (size_t i = 0; i < orders.size(); ++i) {
    const auto there = static_cast<double>(Delivered(packets, orders, i));
    EXPECT_NEAR(static_cast<double>(Delivered(fluid, orders, i)) / there, 1, i < 20 ? 0.1 : 0.01)
        << i;
  }
}

// A small message that shares, because a large one was there, does not wait until a stream of small
// ones ends that began after that.
TEST(FluidNetworkTest, NobodyWaitsForAStreamToEnd) {
  const Topology topology = Star(5, FabricShape());
  std::vector<Order> orders = {Transfer(1, 0, 4096 * 100)};
  for (const HostId from : {2, 3, 4}) {
    for (int i = 0; i < 300; ++i) {
      orders.push_back(Transfer(from, 0, 4096 * 8, Time::Us(1) * from + Time::Ns(670) * i));
    }
  }
  const Outcome fluid = RunFluid(topology, orders), packets = RunPackets(topology, orders);
  int64_t latest = 0;
  for (size_t i = 0; i < orders.size(); ++i) {
    latest = std::max(latest, Delivered(fluid, orders, i) - Delivered(packets, orders, i));
  }
  EXPECT_LT(latest, 20'000'000);
}

// What goes ahead can leave next to nothing to what shares, for a while.
TEST(FluidNetworkTest, ALargeMessageOutlivesThoseAhead) {
  std::vector<Order> orders;
  for (uint32_t i = 1; i <= 3; ++i) orders.push_back(Transfer(1, 0, 4096 * 20, Time::Us(1), i));
  orders.push_back(Transfer(2, 0, 4096 * 1000, Time::Ns(1100)));
  const Outcome fluid = RunFluid(Star(3, FabricShape()), orders),
                packets = RunPackets(Star(3, FabricShape()), orders);
  for (size_t i = 0; i < orders.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(Delivered(fluid, orders, i)) /
                    static_cast<double>(Delivered(packets, orders, i)),
                1, i < 3 ? 0.5 : 0.02)
        << i;
  }
}

TEST(FluidNetworkTest, WhatHasJustLeftIsNotHeldByAFault) {
  Topology topology = Star(2, FabricShape());
  const std::vector<Order> orders = {Transfer(0, 1, 4096 * 10)};
  const int64_t alone = Delivered(RunFluid(topology, orders), orders, 0);
  topology.faults = {Fault{Time::Ps(10 * kFullFrame), Fault::Kind::kDown, false, {0}, {}, 0}};
  EXPECT_EQ(Delivered(RunFluid(topology, orders), orders, 0), alone);
}

// Host i sends to host i + 1 over a chain of switches, and host 0 to the last: it has half of each
// link, and so has everybody.
TEST(FluidNetworkTest, ParkingLot) {
  FabricShape shape;
  Topology topology = Hosts(4, 1, shape);
  std::vector<LinkEnd> switches;
  for (int i = 0; i < 4; ++i) {
    switches.push_back(AddSwitch(topology, 0, shape));
    Cable(topology, NicOf(i, 0), switches.back(), shape);
    if (i > 0) Cable(topology, switches[static_cast<size_t>(i) - 1], switches.back(), shape);
  }
  const int packets = 400;
  const std::vector<Order> orders = {Transfer(0, 3, 4096 * packets), Transfer(1, 2, 4096 * packets),
                                     Transfer(2, 3, 4096 * packets)};
  const Outcome out = RunFluid(topology, orders);
  EXPECT_EQ(Delivered(out, orders, 0), 2 * packets * kFullFrame + 4 * kFullFrame + 5 * kDelay);
  EXPECT_EQ(Delivered(out, orders, 1), 2 * packets * kFullFrame + 2 * kFullFrame + 3 * kDelay);
  EXPECT_EQ(Delivered(out, orders, 2), 2 * packets * kFullFrame + 2 * kFullFrame + 3 * kDelay);
}

// Queue pairs collide where the packet network's do: the same hashes, so the same ways. Windows
// share less with those who wait twice than max-min fairness does, so single flows differ.
TEST(FluidNetworkTest, APermutationOverAFatTreeCollidesAlike) {
  Topology topology = FatTree(8, FabricShape());
  topology.transport.attributes = {{"RdmaTransport::AckPriority", "5"}};
  std::vector<Order> orders;
  for (HostId i = 0; i < 128; ++i) orders.push_back(Transfer(i, (i + 37) % 128, 4096 * 2000));
  const Outcome fluid = RunFluid(topology, orders), packets = RunPackets(topology, orders);
  const int64_t line = 2000 * kFullFrame * 11 / 10;
  int64_t last_fluid = 0, last_packets = 0, free_fluid = 0, free_packets = 0;
  double difference = 0;
  for (size_t i = 0; i < orders.size(); ++i) {
    const int64_t one = Delivered(fluid, orders, i), other = Delivered(packets, orders, i);
    last_fluid = std::max(last_fluid, one);
    last_packets = std::max(last_packets, other);
    free_fluid += one < line ? 1 : 0;
    free_packets += other < line ? 1 : 0;
    difference += std::abs(static_cast<double>(one) / static_cast<double>(other) - 1);
  }
  EXPECT_NEAR(static_cast<double>(last_fluid) / static_cast<double>(last_packets), 1, 0.03);
  EXPECT_EQ(free_fluid, free_packets) << "flows that collide with none";
  EXPECT_LT(difference / static_cast<double>(orders.size()), 0.10);
}

TEST(FluidNetworkTest, SprayFillsEveryWay) {
  Topology topology = RailFabric(16, 1, 8, 8, FabricShape());
  topology.fabric.routing = "spray";
  std::vector<Order> orders;
  for (HostId i = 0; i < 8; ++i) orders.push_back(Transfer(i, i + 8, 4096 * 2000));
  const Outcome out = RunFluid(topology, orders);
  for (size_t i = 0; i < orders.size(); ++i) {
    EXPECT_EQ(Delivered(out, orders, i), 2003 * kFullFrame + 4 * kDelay);
  }
}

// Cables 0 and 1 are the hosts'; a leaf's way to the other goes over one of two spines.
TEST(FluidNetworkTest, WaysMoveWhenACableGoesDown) {
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
          "that is down and does not come back");
      continue;
    }
    const int64_t there = Delivered(out, orders, 0);
    if (there == alone) continue;  // of the other spine
    EXPECT_EQ(there, alone + 40'000'000) << "it stands still until switches know";
    ++moved;
  }
  EXPECT_EQ(moved, 2) << "to its spine and from there";
}

// So is it with messages that fit into their window, and with a cable that is slow.
TEST(FluidNetworkTest, SmallMessagesGoOnAfterAFault) {
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
      EXPECT_NEAR(slowly, alone + 30'000'000, 1'000'000) << "in 40 us it moves what else takes 10";
      ++slow;
    }
    topology.faults = {Fault{Time::Us(20), Fault::Kind::kDown, false, {cable}, {}, 0}};
    Outcome out;
    if (!TryFluid(topology, orders, &out).ok()) continue;  // the only cable of a host
    const int64_t there = Delivered(out, orders, 99);
    if (there == alone) continue;
    EXPECT_NEAR(there, alone + 40'000'000, 1'000'000) << "it stands still until switches know";
    ++moved;
  }
  EXPECT_EQ(moved, 2);
  EXPECT_EQ(slow, 4) << "those of the hosts too";
}

// Two switches, and a cable of each NIC to each of them.
TEST(FluidNetworkTest, FlowsGoOnInTheOtherPlane) {
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
    if (there == alone) continue;  // of the other plane
    EXPECT_EQ(there, alone + 40'000'000) << "it stands still until hosts and switches know";
    ++moved;
  }
  EXPECT_EQ(moved, 2) << "to its switch and from there";
}

// The ways change in the moment in which the cable breaks, and there is no other.
TEST(FluidNetworkTest, SwitchesThatKnowAtOnceDoNotMendACable) {
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

TEST(FluidNetworkTest, AClearToSendWaitsForItsCable) {
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

TEST(FluidNetworkTest, ASlowCableSlowsWhatCrossesIt) {
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
      << "in 40 us it moves what else takes 10";
}

// Messages of all sizes at random times between all NICs, in bursts and alone.
std::vector<Order> RandomOrders(const Topology& topology, uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  std::vector<Order> orders;
  Time at;
  while (static_cast<int>(orders.size()) < count) {
    const HostId from = below(topology.host_count()), to = below(topology.host_count());
    if (from == to) continue;
    if (below(4) == 0) at += Time::Ns(below(20'000));
    const int64_t bytes = 1 + below(1 << (4 + below(19)));
    orders.push_back(Transfer(from, to, bytes, at, static_cast<uint32_t>(below(4))));
    orders.back().message.source_nic =
        static_cast<int16_t>(below(topology.host_kinds[0].nics.count));
    orders.back().message.destination_nic =
        static_cast<int16_t>(below(topology.host_kinds[0].nics.count));
  }
  return orders;
}

// The last of them within a per cent in the mean; single ones are early where small ones share with
// large ones (WhatFitsIntoItsWindowSharesWithWhatDoesNot).
TEST(FluidNetworkTest, RandomMessagesAreDoneAboutWhenPacketsAre) {
  constexpr int kSeeds = 40, kMessages = 200;
  double early = 0, apart = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Topology topology = RandomFabric(seed, FabricShape());
    topology.transport.attributes = {{"RdmaTransport::AckPriority", "5"}};
    const std::vector<Order> orders = RandomOrders(topology, seed, kMessages);
    const Outcome fluid = RunFluid(topology, orders), packets = RunPackets(topology, orders);
    int64_t last_fluid = 0, last_packets = 0;
    for (size_t i = 0; i < orders.size(); ++i) {
      const int64_t here = Delivered(fluid, orders, i), there = Delivered(packets, orders, i);
      ASSERT_GT(here, orders[i].at.ps());
      early += 1 - static_cast<double>(here - orders[i].at.ps()) /
                       static_cast<double>(there - orders[i].at.ps());
      last_fluid = std::max(last_fluid, here);
      last_packets = std::max(last_packets, there);
    }
    const double off =
        std::abs(static_cast<double>(last_fluid) / static_cast<double>(last_packets) - 1);
    EXPECT_LT(off, 0.1) << seed;
    apart += off;
  }
  EXPECT_LT(apart / kSeeds, 0.01);
  EXPECT_LT(std::abs(early) / (kSeeds * kMessages), 0.25);
}

// Whatever fails and comes back: every message arrives, or the run says which waits.
TEST(FluidNetworkTest, RandomFaultsLoseNothing) {
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
      EXPECT_THAT(status.error().message(),
                  testing::EndsWith("waits for a cable that is down and does not come back"));
      continue;
    }
    ++ended;
    for (size_t i = 0; i < orders.size(); ++i) {
      ASSERT_GT(Delivered(out, orders, i), orders[i].at.ps()) << seed;
    }
  }
  EXPECT_GT(ended, 100);
}

TEST(FluidNetworkTest, ThreadsDoNotShow) {
  const Topology topology = RandomFabric(3, FabricShape());
  std::vector<Order> orders;
  for (int i = 0; i < 300; ++i) {
    const int hosts = topology.host_count();
    const HostId from = i % hosts, to = (i * 7 + 1) % hosts;
    if (from != to)
      orders.push_back(Transfer(from, to, 1 + i * 1000, Time::Ns(i % 17 * 400), i % 3));
  }
  const Outcome one = RunFluid(topology, orders, 1);
  EXPECT_EQ(one.Hash(), RunFluid(topology, orders, 4).Hash());
  for (size_t i = 0; i < orders.size(); ++i) {
    EXPECT_GT(one.TimeOf(Notice::kDelivered, orders[i].message.source, i), 0) << i;
    EXPECT_GT(one.TimeOf(Notice::kSent, orders[i].message.source, i), 0) << i;
  }
}

std::string WhyNot(const Topology& topology, const NetworkOptions& options) {
  const auto network = MakeFluidNetwork(topology, options);
  return network.ok() ? "" : network.error().message();
}

TEST(FluidNetworkTest, SaysWhatItCannot) {
  Topology topology = TwoHosts(FabricShape());
  NetworkOptions log;
  log.log_interval = Time::Us(10);
  EXPECT_EQ(WhyNot(topology, log),
            "the fluid network keeps no log of links; it needs the packet network");
  topology.faults = {Fault{Time(), Fault::Kind::kErrors, false, {0}, {}, 1e-9}};
  EXPECT_EQ(WhyNot(topology, {}),
            "the cluster has 'faults' that flip bits, which lose packets; they need the packet "
            "network");
  topology.faults.clear();
  topology.transport.attributes = {{"RdmaTransport::WindowBdp", "wide"}};
  EXPECT_EQ(WhyNot(topology, {}),
            "attribute 'RdmaTransport::WindowBdp' is 'wide', which is no number");
}

}  // namespace
}  // namespace drydock
