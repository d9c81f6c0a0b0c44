// Compares the fluid network with the packet network: messages alone agree to the picosecond,
// shared links agree with max-min fairness, and queued messages agree within a frame or two.
#include "exec-engine/networks/fluid/fluid_network.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/integration/fluid_runs.h"

namespace drydock {
namespace {

// Expects every notice of every message at the same time in both networks.
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

TEST(FluidNetworkTest, ALoneMessageTakesThePacketNetworksTime) {
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

// Four hosts of a leaf send to four of another over `spines` cables up and as many down.
int64_t LastOfFour(const Topology& topology, Outcome (*run)(const Topology&)) {
  const Outcome outcome = run(topology);
  int64_t last = 0;
  for (HostId from = 0; from < 4; ++from) {
    last = std::max(last, outcome.TimeOf(Notice::kDelivered, from, static_cast<uint64_t>(from)));
  }
  return last;
}

std::vector<Order> FourAcross() {
  std::vector<Order> orders;
  for (HostId from = 0; from < 4; ++from) orders.push_back(Transfer(from, from + 4, 4096 * 2000));
  return orders;
}

// Where packets spread, a tier with too little capacity slows all networks down alike.
TEST(FluidNetworkTest, SpreadPacketsShareANarrowTierInEveryNetwork) {
  for (const Routing routing : {Routing::kSpray, Routing::kAdaptive}) {
    for (const int spines : {1, 2, 3, 4}) {
      Topology topology = RailFabric(8, 1, 4, spines, FabricShape());
      topology.fabric.routing = routing;
      const auto time = [&](auto run) { return static_cast<double>(LastOfFour(topology, run)); };
      const double packets = time([](const Topology& t) { return RunPackets(t, FourAcross()); });
      EXPECT_NEAR(time([](const Topology& t) { return RunFluid(t, FourAcross()); }) / packets, 1,
                  0.03)
          << spines;
      EXPECT_NEAR(time([](const Topology& t) { return RunAnalytical(t, FourAcross()); }) / packets,
                  1, 0.03)
          << spines;
      EXPECT_NEAR(packets / (2000.0 * kFullFrame), 4.0 / spines, 0.05) << spines;
    }
  }
}

TEST(FluidNetworkTest, AConnectionHasSeveralQueuePairs) {
  for (const char* split : {"0", "1"}) {
    Topology topology = Chain(2, FabricShape());
    topology.nccl_settings = {{"NCCL_IB_QPS_PER_CONNECTION", "4"},
                              {"NCCL_IB_SPLIT_DATA_ON_QPS", split}};
    std::vector<Order> orders;
    for (int i = 0; i < 8; ++i) orders.push_back(Transfer(0, 1, 4096 * 64));
    const Outcome fluid = RunFluid(topology, orders), packets = RunPackets(topology, orders);
    for (size_t i = 0; i < orders.size(); ++i) {
      const int64_t round = 4 * 4 * kFullFrame;  // a rotation of waiting packets
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
        << "the time of the last message in the packet network (packet_network_test.cc)";
  }
}

// Two hosts send messages that fit into their windows to a third host. Each message has its own
// queue pair and starts a little after the previous one. The NICs send the messages at once. The
// messages arrive in the order in which they reached the switch, not all at the end.
TEST(FluidNetworkTest, MessagesWithinTheirWindowsArriveInOrderOfQueuing) {
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

// Each small message gets a share equal to that of the large message, and so arrives too early. In
// a switch, ten small messages of one NIC together get the share of the large message.
TEST(FluidNetworkTest, SmallMessagesShareWithALargeOne) {
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

// Two queue pairs send small messages without end. A window of each queue pair waits at the switch,
// and acknowledgements set the pace of both.
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

// A small message shares its path because of an earlier large message. It does not wait for the end
// of a stream of small messages that began later.
TEST(FluidNetworkTest, ASharingMessageDoesNotWaitForALaterStream) {
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

// Flows that bypass fair sharing can leave almost no bandwidth to the sharing flows for a while.
TEST(FluidNetworkTest, ALargeMessageEndsAfterEarlierSmallOnes) {
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

// Host i sends to host i + 1 over a chain of switches, and host 0 to the last host. Every flow has
// half of each link that it crosses.
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

// Queue pairs collide on the same links as in the packet network, because equal hashes select equal
// routes. Windows give flows that wait at two links less than the max-min fair share, so single
// flows differ.
TEST(FluidNetworkTest, FlowsCollideOnTheSameLinksAsPackets) {
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
  EXPECT_EQ(free_fluid, free_packets) << "flows that share no link";
  EXPECT_LT(difference / static_cast<double>(orders.size()), 0.10);
}

TEST(FluidNetworkTest, SprayFillsEveryPath) {
  Topology topology = RailFabric(16, 1, 8, 8, FabricShape());
  topology.fabric.routing = Routing::kSpray;
  std::vector<Order> orders;
  for (HostId i = 0; i < 8; ++i) orders.push_back(Transfer(i, i + 8, 4096 * 2000));
  const Outcome out = RunFluid(topology, orders);
  for (size_t i = 0; i < orders.size(); ++i) {
    EXPECT_EQ(Delivered(out, orders, i), 2003 * kFullFrame + 4 * kDelay);
  }
}

// On average the last message is within one percent. Single messages are early where small
// messages share with large messages (SmallMessagesShareWithALargeOne).
TEST(FluidNetworkTest, RandomMessagesEndNearTheirPacketTimes) {
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

TEST(FluidNetworkTest, NumberOfThreadsDoesNotMatter) {
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

TEST(FluidNetworkTest, RefusesUnsupportedOptions) {
  Topology topology = TwoHosts(FabricShape());
  NetworkOptions log;
  log.log_interval = Time::Us(10);
  EXPECT_EQ(WhyNot(topology, log),
            "the fluid network keeps no log of links; use the packet network");
  topology.faults = {Fault{Time(), Fault::Kind::kErrors, false, {0}, {}, 1e-9}};
  EXPECT_EQ(WhyNot(topology, {}),
            "the cluster has 'faults' that flip bits, which lose packets; use the packet network");
  topology.faults.clear();
  topology.transport.attributes = {{"RdmaTransport::WindowBdp", "wide"}};
  EXPECT_EQ(
      WhyNot(topology, {}),
      "attribute 'RdmaTransport::WindowBdp' is 'wide'; it must be a number, from 0 to 1000000");
}

}  // namespace
}  // namespace drydock
