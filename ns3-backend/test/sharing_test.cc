// What share of a link does each flow get, and how many paths do hosts use?
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "ns3-backend/model/fabric/fabric-switch.h"
#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/fabrics_testing.h"
#include "ns3/node-list.h"

namespace drydock {
namespace {

constexpr int64_t kFullFrame = (4096 + 82) * 20;  // ps at 400 Gbps

// Messages of `pieces` times 16 packets each, so that notices show the bytes that arrived by a
// time.
void Stream(HostId from, HostId to, int pieces, uint32_t flow, std::vector<Order>* orders) {
  for (int i = 0; i < pieces; ++i) {
    orders->push_back(Transfer(from, to, 16 * 4096, Time(), flow));
  }
}

// Returns the share of a line of each (source, destination) between two times.
std::map<std::pair<HostId, HostId>, double> SharesBetween(const Outcome& out, int64_t begin,
                                                          int64_t end) {
  std::map<std::pair<HostId, HostId>, double> shares;
  for (const auto& host : out.notices) {
    for (const auto& notice : host) {
      if (notice.kind != Notice::kDelivered) continue;
      if (notice.time.ps() <= begin || notice.time.ps() > end) continue;
      shares[{notice.source, notice.host}] += 16.0 * kFullFrame / static_cast<double>(end - begin);
    }
  }
  return shares;
}

TEST(MaxMin, AFlowGetsTheShareOfItsBottleneck) {
  // Hosts 1, 2 and 3 send to host 0; hosts 3 and 4 to host 5. Into host 0 each flow gets a third.
  // The other flow of host 3 could use two thirds of its NIC, but shares the port of host 5 with
  // host 4: half each.
  std::vector<Order> orders;
  for (HostId from = 1; from <= 3; ++from) Stream(from, 0, 600, 0, &orders);
  Stream(3, 5, 600, 1, &orders);
  Stream(4, 5, 600, 0, &orders);
  const Outcome out = RunPackets(Star(6, FabricShape()), orders);
  auto shares = SharesBetween(out, 200 * 16 * kFullFrame, 1000 * 16 * kFullFrame);
  for (HostId from = 1; from <= 3; ++from) EXPECT_NEAR((shares[{from, 0}]), 1.0 / 3, 0.01) << from;
  EXPECT_NEAR((shares[{3, 5}]), 0.5, 0.02);
  EXPECT_NEAR((shares[{4, 5}]), 0.5, 0.02);
}

TEST(MaxMin, TheRestOfANicGoesToItsOtherFlows) {
  // Into host 0 four flows get a quarter each; host 4 sends to host 5 with the rest of its NIC.
  std::vector<Order> orders;
  for (HostId from = 1; from <= 4; ++from) Stream(from, 0, 400, 0, &orders);
  Stream(4, 5, 1200, 1, &orders);
  const Outcome out = RunPackets(Star(6, FabricShape()), orders);
  auto shares = SharesBetween(out, 200 * 16 * kFullFrame, 1000 * 16 * kFullFrame);
  for (HostId from = 1; from <= 4; ++from) EXPECT_NEAR((shares[{from, 0}]), 0.25, 0.01) << from;
  EXPECT_NEAR((shares[{4, 5}]), 0.75, 0.01);
}

// Returns the number of cables between aggregation and core switches of a fat-tree of k = 8 that
// carry data when each host sends to a host of another pod.
size_t UpperCablesInUse(const std::string& seed) {
  FabricShape shape;
  if (!seed.empty()) shape.transport.attributes = {{"FabricSwitch::EcmpSeed", seed}};
  const Topology topology = FatTree(8, shape);
  const int hosts = topology.host_count();
  const auto network = MakePacketNetwork(topology, {});
  std::vector<Order> orders;
  for (int i = 0; i < hosts; ++i) {
    for (uint32_t flow = 0; flow < 4; ++flow) {
      orders.push_back(Transfer(i, (i + hosts / 2) % hosts, 64'000, Time(), flow));
    }
  }
  EXPECT_TRUE(RunOrders(topology, network->get(), orders).ok());
  size_t used = 0;
  for (size_t i = 0; i < topology.fabric.switches.size(); ++i) {
    if (topology.fabric.switches[i].tier != 1) continue;
    const auto node =
        ns3::NodeList::GetNode(static_cast<uint32_t>(hosts) + static_cast<uint32_t>(i));
    const auto at = ns3::DynamicCast<ns3::rdma::FabricSwitch>(node);
    for (uint16_t port = 0; port < at->GetNPorts(); ++port) {
      const auto& egress = at->GetEgress(port);
      const int to = static_cast<int>(egress.direction->to_node) - hosts;
      if (to >= 0 && topology.fabric.switches[static_cast<size_t>(to)].tier == 2) {
        used += egress.frames > 0 ? 1 : 0;
      }
    }
  }
  return used;
}

TEST(Ecmp, SwitchesWithOneSeedLeaveCablesUnused) {
  // 32 aggregation switches with 4 cables up each. With one seed for all, the packets that reach a
  // switch share the hash that led them there, and the switch uses one of its four cables.
  EXPECT_GT(UpperCablesInUse(""), 110U) << "a seed for each switch";
  EXPECT_EQ(UpperCablesInUse("7"), 32U) << "the same for all";
}

}  // namespace
}  // namespace drydock
