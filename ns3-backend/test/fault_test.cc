// What happens to traffic when cables fail, slow down or lose bits?
#include <gtest/gtest.h>

#include <algorithm>

#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/fabrics_testing.h"

namespace drydock {
namespace {

constexpr int64_t kFullFrame = (4096 + 82) * 20;  // ps at 400 Gbps
constexpr int64_t kDelay = 500'000;
constexpr int kHosts = 16;

// Two leaves of 8 hosts, 8 spines. Short timeouts keep the runs short.
Topology TwoLeaves(FlowControl flow_control = FlowControl::kIdeal) {
  FabricShape shape;
  shape.transport.flow_control = flow_control;
  shape.transport.attributes = {{"FaultInjector::RerouteTime", "20 us"},
                                {"RdmaTransport::AckTimeout", "100 us"}};
  Topology topology = RailFabric(kHosts, 1, 8, 8, shape);
  for (auto& node : topology.fabric.switches) node.buffer = Bytes(64'000'000);
  return topology;
}

std::vector<int> CablesOfHost(const Topology& topology, int host) {
  std::vector<int> cables;
  for (size_t i = 0; i < topology.fabric.links.size(); ++i) {
    const FabricLink& link = topology.fabric.links[i];
    for (const LinkEnd& end : {link.a, link.b}) {
      if (!end.is_switch && end.index == host) cables.push_back(static_cast<int>(i));
    }
  }
  return cables;
}

std::vector<int> CablesOfSwitch(const Topology& topology, const std::string& name) {
  std::vector<int> cables;
  for (size_t i = 0; i < topology.fabric.links.size(); ++i) {
    const FabricLink& link = topology.fabric.links[i];
    for (const LinkEnd& end : {link.a, link.b}) {
      if (end.is_switch && topology.fabric.switches[end.index].name == name) {
        cables.push_back(static_cast<int>(i));
      }
    }
  }
  return cables;
}

// All cables of half of the spines.
std::vector<int> CablesOfHalfTheSpines(const Topology& topology) {
  std::vector<int> cables;
  int spines = 0;
  for (const FabricSwitch& node : topology.fabric.switches) {
    if (node.tier != 1 || spines++ % 2 == 0) continue;
    const std::vector<int> its = CablesOfSwitch(topology, node.name);
    cables.insert(cables.end(), its.begin(), its.end());
  }
  return cables;
}

Fault Down(Time at, std::vector<int> links) {
  Fault fault;
  fault.at = at;
  fault.links = std::move(links);
  return fault;
}

Fault End(Fault fault, Time at) {
  fault.at = at;
  fault.ends = true;
  return fault;
}

std::vector<Order> Crossing(int64_t packets) {
  std::vector<Order> orders;
  for (int i = 0; i < 8; ++i) orders.push_back(Transfer(i, i + 8, 4096 * packets));
  return orders;
}

int64_t Last(const Outcome& out, const std::vector<Order>& orders) {
  int64_t last = 0;
  for (size_t i = 0; i < orders.size(); ++i) {
    const int64_t at = out.TimeOf(Notice::kDelivered, orders[i].message.source, i);
    EXPECT_GE(at, 0) << "message " << i << " never arrived";
    EXPECT_GE(out.TimeOf(Notice::kSent, orders[i].message.source, i), 0);
    last = std::max(last, at);
  }
  return last;
}

TEST(Fault, SlowNicSendsAtItsReducedRate) {
  Topology topology = TwoLeaves();
  Fault fault;
  fault.kind = Fault::Kind::kRate;
  fault.links = CablesOfHost(topology, 0);
  fault.rate = Bandwidth::BitsPerSecond(100'000'000'000);
  topology.faults = {fault};
  const Outcome out = RunPackets(topology, {Transfer(0, 1, 4096 * 100)});
  // 100 packets at a quarter of the rate, and one more frame time at the full rate.
  EXPECT_EQ(out.TimeOf(Notice::kDelivered, 0, 0), 100 * 4 * kFullFrame + kFullFrame + 2 * kDelay);
}

TEST(Fault, RateRecoversWhenTheFaultEnds) {
  Topology topology = TwoLeaves();
  Fault fault;
  fault.kind = Fault::Kind::kRate;
  fault.links = CablesOfHost(topology, 0);
  fault.rate = Bandwidth::BitsPerSecond(100'000'000'000);
  // Ten packets and the one that has begun at the slow rate; the rest at full rate.
  const Time until = Time::Ps(10 * 4 * kFullFrame);
  topology.faults = {fault, End(fault, until)};
  const Outcome out = RunPackets(topology, {Transfer(0, 1, 4096 * 100)});
  EXPECT_EQ(out.TimeOf(Notice::kDelivered, 0, 0),
            10 * 4 * kFullFrame + 90 * kFullFrame + kFullFrame + 2 * kDelay);
}

TEST(Fault, TrafficOfFailedSpinesMovesAfterATimeout) {
  for (const auto control : {FlowControl::kIdeal, FlowControl::kPfc}) {
    Topology topology = TwoLeaves(control);
    const std::vector<Order> orders = Crossing(400);
    const int64_t whole = Last(RunPackets(topology, orders), orders);
    topology.faults = {Down(Time::Us(5), CablesOfHalfTheSpines(topology))};
    const Outcome out = RunPackets(topology, orders);
    EXPECT_GT(out.Counter("frames lost to faults"), 0);
    EXPECT_GT(out.Counter("ack timeouts"), 0);
    const int64_t last = Last(out, orders);
    EXPECT_GT(last, 100'000'000) << "only the timeout reveals that all packets are lost";
    EXPECT_LT(last, 2 * whole + 200'000'000);
    EXPECT_EQ(out.Hash(), RunPackets(topology, orders, 2).Hash());
    EXPECT_EQ(out.Hash(), RunPackets(topology, orders, 3).Hash());
  }
}

TEST(Fault, CableThatFlapsLosesTheFramesOnIt) {
  Topology topology = TwoLeaves();
  const Fault down = Down(Time::Us(5), CablesOfHost(topology, 0));
  topology.faults = {down, End(down, Time::Us(10))};
  const Outcome out = RunPackets(topology, {Transfer(0, 1, 4096 * 1000)});
  EXPECT_GT(out.Counter("frames lost to faults"), 0);
  EXPECT_GE(out.TimeOf(Notice::kDelivered, 0, 0), 0);
}

TEST(Fault, NicThatStaysDownFailsTheRun) {
  Topology topology = TwoLeaves();
  topology.faults = {Down(Time::Us(5), CablesOfHost(topology, 0))};
  const auto network = MakePacketNetwork(topology, {});
  const Status status = RunOrders(topology, network->get(), {Transfer(0, 1, 4096 * 1000)});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message().find("a queue pair from host 0 to host 1 gave up"),
            std::string::npos)
      << status.error().message();
}

TEST(Fault, QueuePairFirstUsedWithoutAPathSendsAgain) {
  // The path fails at 5 us, switches know at 25 us, the first messages are sent at 50 us. A host
  // whose own cable failed sends into that cable; if all spines fail, its leaf has no path.
  for (const bool own_cable : {true, false}) {
    Topology topology = TwoLeaves();
    std::vector<int> cables = CablesOfHost(topology, 0);
    if (!own_cable) {
      cables.clear();
      for (const FabricSwitch& node : topology.fabric.switches) {
        const std::vector<int> its = CablesOfSwitch(topology, node.name);
        if (node.tier == 1) cables.insert(cables.end(), its.begin(), its.end());
      }
    }
    const Fault down = Down(Time::Us(5), cables);
    const std::vector<Order> orders = {Transfer(0, 9, 4096 * 400, Time::Us(50)),
                                       Transfer(9, 0, 4096 * 400, Time::Us(50))};
    topology.faults = {down, End(down, Time::Us(220))};
    const Outcome out = RunPackets(topology, orders);
    EXPECT_GT(out.Counter(own_cable ? "frames lost to faults" : "frames without a way"), 0);
    // They send again at 150 and at 250 us. By then there is a path, and their windows are those of
    // that path, so they take as long as without the fault.
    const int64_t needed = 403 * kFullFrame + 4 * kDelay;
    for (const HostId host : {0, 9}) {
      const int64_t at = out.TimeOf(Notice::kDelivered, host, host == 0 ? 0 : 1);
      EXPECT_GE(at, 250'000'000 + needed) << own_cable;
      EXPECT_LE(at, 250'000'000 + needed + needed / 10) << own_cable;
    }
    EXPECT_EQ(out.Hash(), RunPackets(topology, orders, 3).Hash());
  }
}

TEST(Fault, BitErrorsLoseFramesInProportionAndGoBackNResendsAWindow) {
  // Goodput of go-back-n with loss probability p per packet and w packets in flight when a loss is
  // noticed: each loss resends about w packets, which leaves about 1 / (1 + p w) of the line.
  Topology topology = TwoLeaves();
  Fault fault;
  fault.kind = Fault::Kind::kErrors;
  fault.links = CablesOfHost(topology, 1);
  fault.bit_errors = 1e-7;  // 8 x 4178 bits: 0.33 % of packets
  topology.faults = {fault};
  const int64_t packets = 20'000;
  const Outcome out = RunPackets(topology, {Transfer(0, 1, 4096 * packets)});
  const auto lost = static_cast<double>(out.Counter("frames lost to faults"));
  const auto sent = static_cast<double>(out.Counter("packets"));
  EXPECT_NEAR(lost / sent, 8 * 4178 * 1e-7, 0.0005);
  // The next packet reveals a lost packet. Until the sender knows, a round trip of packets follows:
  // the delay of 4 cables, two frames to the receiver, and the time of the reply.
  const double round_trip = 4 * kDelay + 2 * kFullFrame + 2 * 84 * 20;
  const double w = round_trip / kFullFrame + 1;
  EXPECT_NEAR(static_cast<double>(out.Counter("repeated packets")) / lost, w, 0.15 * w);
  const auto time = static_cast<double>(out.TimeOf(Notice::kDelivered, 0, 0));
  const double goodput = static_cast<double>(packets * kFullFrame) / time;
  EXPECT_NEAR(goodput, 1 / (1 + lost / static_cast<double>(packets) * w), 0.015);
}

TEST(Fault, SelectiveRepeatResendsOnlyLostPackets) {
  Topology topology = TwoLeaves();
  topology.transport.retransmission = Retransmission::kSelectiveRepeat;
  Fault fault;
  fault.kind = Fault::Kind::kErrors;
  fault.links = CablesOfHost(topology, 1);
  fault.bit_errors = 1e-7;
  topology.faults = {fault};
  const Outcome out = RunPackets(topology, {Transfer(0, 1, 4096 * 20'000)});
  EXPECT_GT(out.Counter("frames lost to faults"), 30);
  EXPECT_LE(out.Counter("repeated packets"), out.Counter("frames lost to faults") * 11 / 10);
}

// ---- Planes ---------------------------------------------------------------------------------

// Four hosts whose NICs have a cable to each of two switches.
Topology TwoPlanes() {
  FabricShape shape;
  shape.transport.attributes = {{"FaultInjector::RerouteTime", "20 us"},
                                {"RdmaTransport::AckTimeout", "100 us"}};
  Topology topology = Hosts(4, 1, shape);
  for (int plane = 0; plane < 2; ++plane) {
    const LinkEnd at = AddSwitch(topology, 0, shape);
    for (int host = 0; host < 4; ++host) Cable(topology, NicOf(host, 0), at, shape);
  }
  return topology;
}

// Eight flows from host 0 to each other host, some in each plane.
std::vector<Order> OverBothPlanes(int64_t packets, Time at) {
  std::vector<Order> orders;
  for (HostId to = 1; to < 4; ++to) {
    for (uint32_t flow = 0; flow < 8; ++flow) {
      orders.push_back(Transfer(0, to, 4096 * packets, at, flow));
    }
  }
  return orders;
}

TEST(Planes, QueuePairsMoveToTheOtherPlane) {
  const std::vector<Order> orders = OverBothPlanes(100, Time());
  const int64_t whole = Last(RunPackets(TwoPlanes(), orders), orders);
  EXPECT_LT(whole, 24 * 100 * kFullFrame) << "both planes are in use";
  for (const bool dead_switch : {false, true}) {
    Topology topology = TwoPlanes();
    topology.faults = {
        Down(Time::Us(5), dead_switch ? CablesOfSwitch(topology, "switch1") : std::vector<int>{4})};
    const Outcome out = RunPackets(topology, orders);
    EXPECT_GT(out.Counter("frames lost to faults"), 0);
    const int64_t last = Last(out, orders);
    EXPECT_GT(last, 24 * 90 * kFullFrame) << "one plane carries nearly all";
    EXPECT_LT(last, 24 * 100 * kFullFrame + 300'000'000) << "and a timeout has passed";
    for (const int threads : {2, 3}) {
      EXPECT_EQ(out.Hash(), RunPackets(topology, orders, threads).Hash());
    }
  }
}

TEST(Planes, QueuePairsReturnToTheirOwnPlane) {
  Topology topology = TwoPlanes();
  const Fault down = Down(Time::Us(5), {4});
  topology.faults = {down, End(down, Time::Us(400))};
  std::vector<Order> orders = OverBothPlanes(20, Time());
  const std::vector<Order> later = OverBothPlanes(100, Time::Us(1000));
  orders.insert(orders.end(), later.begin(), later.end());
  const Outcome out = RunPackets(topology, orders);
  EXPECT_LT(Last(out, orders), 1'000'000'000 + 24 * 100 * kFullFrame) << "both planes again";
  EXPECT_EQ(out.Hash(), RunPackets(topology, orders, 2).Hash());
}

}  // namespace
}  // namespace drydock
