// Which of equally short paths do packets take, and what happens if they overtake each other?
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ns3-backend/model/fabric/fabric-switch.h"
#include "ns3-backend/model/host/receive-queue.h"
#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/fabrics_testing.h"
#include "ns3/node-list.h"

namespace drydock {
namespace {

using ns3::rdma::FabricSwitch;
using ns3::rdma::ReceiveQueue;

constexpr int64_t kUs = 1'000'000;

// Two leaves of 8 hosts each, 8 spines: enough for every host at line rate, if paths are used
// evenly.
constexpr int kHosts = 16;

Topology TwoLeaves(Routing routing, const FabricShape& shape) {
  Topology topology = RailFabric(kHosts, 1, 8, 8, shape);
  topology.fabric.routing = routing;
  return topology;
}

struct Used {
  int64_t last = 0;             // delivery
  std::set<uint32_t> upstream;  // ports of the first leaf that data left by
};

// Runs `orders` and records which ports of the first leaf to the spines were used.
Used RunAndRecord(const Topology& topology, const std::vector<Order>& orders) {
  Used used;
  const auto network = MakePacketNetwork(topology, {});
  std::vector<std::vector<Notice>> notices;
  EXPECT_TRUE(RunOrders(topology, network->get(), orders, &notices).ok());
  for (const std::vector<Notice>& of_host : notices) {
    for (const Notice& notice : of_host) {
      if (notice.kind == Notice::kDelivered) used.last = std::max(used.last, notice.time.ps());
    }
  }
  for (uint32_t node = kHosts; node < ns3::NodeList::GetNNodes(); ++node) {
    const auto at = ns3::DynamicCast<FabricSwitch>(ns3::NodeList::GetNode(node));
    if (at->GetNPorts() < 16) continue;  // a spine
    for (uint16_t port = 0; port < at->GetNPorts(); ++port) {
      const auto& egress = at->GetEgress(port);
      if (egress.direction->to_node >= kHosts && egress.frames > 0) used.upstream.insert(port);
    }
    break;
  }
  return used;
}

// Each host of the first leaf sends to a host of the second.
std::vector<Order> AcrossTheSpines(int64_t bytes) {
  std::vector<Order> orders;
  for (int i = 0; i < kHosts / 2; ++i) orders.push_back(Transfer(i, i + kHosts / 2, bytes));
  return orders;
}

TEST(Routing, EcmpCollidesAndSprayAndAdaptiveFillEveryLink) {
  const int64_t bytes = 4096 * 2000;
  const int64_t line = 2000 * int64_t{4096 + 82} * 20;
  const auto last = [&](Routing routing) {
    return RunAndRecord(TwoLeaves(routing, FabricShape()), AcrossTheSpines(bytes)).last;
  };
  EXPECT_GT(last(Routing::kEcmp), 2 * line) << "two queue pairs or more share a path";
  EXPECT_LT(last(Routing::kAdaptive), line * 102 / 100);
  EXPECT_LT(last(Routing::kSpray), line * 110 / 100);
}

TEST(Routing, FlowletChangesItsPathOnlyAfterAGap) {
  const auto paths = [](Routing routing, int64_t apart_us) {
    std::vector<Order> orders;
    for (int i = 0; i < 50; ++i) orders.push_back(Transfer(0, 8, 1000, Time::Us(apart_us * i)));
    return RunAndRecord(TwoLeaves(routing, FabricShape()), orders).upstream.size();
  };
  EXPECT_EQ(paths(Routing::kEcmp, 60), 1u);
  EXPECT_EQ(paths(Routing::kFlowlet, 40), 1u) << "below the gap of 50 us";
  EXPECT_EQ(paths(Routing::kFlowlet, 60), 8u);
  EXPECT_EQ(paths(Routing::kAdaptive, 40), 8u);
  EXPECT_EQ(paths(Routing::kSpray, 40), 8u);
}

TEST(Routing, AdaptiveAvoidsASlowLink) {
  FabricShape shape;
  const auto slow = [&](Routing routing) {
    Topology topology = TwoLeaves(routing, shape);
    for (FabricLink& link : topology.fabric.links) {  // one spine at a quarter of the rate
      if (link.b.is_switch && link.a.is_switch && link.b.index == 2) {
        link.rate = Bandwidth::BitsPerSecond(100'000'000'000);
      }
    }
    return RunAndRecord(topology, AcrossTheSpines(4096 * 1000)).last;
  };
  EXPECT_LT(slow(Routing::kAdaptive) * 2, slow(Routing::kSpray));
}

TEST(Routing, EveryMessageArrivesOnceDespiteLossesAndOvertaking) {
  for (const auto routing : {Routing::kFlowlet, Routing::kAdaptive, Routing::kSpray}) {
    SCOPED_TRACE(ToString(routing));
    FabricShape shape;
    shape.transport.flow_control = FlowControl::kNone;
    shape.transport.retransmission = Retransmission::kSelectiveRepeat;
    shape.transport.attributes = {{"RdmaTransport::AckTimeout", "1 ms"},
                                  {"RdmaTransport::WindowBdp", "8"}};
    Topology topology = TwoLeaves(routing, shape);
    for (auto& node : topology.fabric.switches) node.buffer = Bytes(300'000);
    std::vector<Order> orders;
    for (int i = 8; i < kHosts; ++i) {
      orders.push_back(Transfer(i, i % 3, 4096 * 300 + i));
      orders.push_back(Transfer(i, i % 3, 100, Time::Us(3)));
    }
    const Outcome out = RunPackets(topology, orders);
    EXPECT_GT(out.Counter("dropped frames"), 0);
    EXPECT_LT(out.Counter("repeated packets"), 3 * out.Counter("dropped frames"));
    for (size_t i = 0; i < orders.size(); ++i) {
      const HostId source = orders[i].message.source;
      EXPECT_GE(out.TimeOf(Notice::kDelivered, source, i), 0);
      EXPECT_GE(out.TimeOf(Notice::kSent, source, i), 0);
    }
    EXPECT_EQ(out.Hash(), RunPackets(topology, orders, 2).Hash());
    EXPECT_EQ(out.Hash(), RunPackets(topology, orders, 4).Hash());
  }
}

TEST(Routing, OvertakingNeedsSelectiveRepeat) {
  FabricShape shape;
  shape.transport.flow_control = FlowControl::kNone;
  const auto network = MakePacketNetwork(TwoLeaves(Routing::kSpray, shape), {});
  ASSERT_FALSE(network.ok());
  EXPECT_EQ(network.error().message(),
            "transport: with routing 'spray' packets overtake each other; set retransmission to "
            "'selective-repeat', because 'go-back-n' takes overtaken packets for lost ones");
}

TEST(ReceiveQueue, ReportsPacketsOvertakenTooLongAgoOnce) {
  ReceiveQueue queue;
  Message message;
  message.size = Bytes(10'000);
  queue.Announce(message);
  std::vector<uint32_t> lost;
  const auto take = [&](uint32_t psn, int64_t now) {
    lost.clear();
    if (queue.Take(psn, 1000, true, [](const Message&) {}) == ReceiveQueue::EARLY) {
      queue.Watch(now, 100 * kUs, [&](uint32_t ahead) { lost.push_back(queue.GetNext() + ahead); });
    }
    return lost;
  };
  EXPECT_TRUE(take(0, 0).empty());
  EXPECT_TRUE(take(2, 10 * kUs).empty());
  EXPECT_TRUE(take(4, 20 * kUs).empty());
  EXPECT_TRUE(take(1, 30 * kUs).empty()) << "it arrived late";
  EXPECT_EQ(take(7, 110 * kUs), std::vector<uint32_t>{}) << "3 was overtaken at 20 us";
  EXPECT_EQ(take(8, 210 * kUs), (std::vector<uint32_t>{3, 5, 6}));
  EXPECT_TRUE(take(9, 220 * kUs).empty()) << "reported already";
}

}  // namespace
}  // namespace drydock
