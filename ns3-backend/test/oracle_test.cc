// Do stock ns-3 point-to-point devices deliver at the same picosecond?
//
// The same cables, with ns-3's own PointToPointNetDevice and queue at each port, its default
// simulator, and a rule that forwards each packet to the next port. The test compares what the
// models share: serialization, propagation, store and forward, the FIFO of a port. Stock devices
// have no acknowledgements; here acknowledgements travel in the other direction and delay no data.
// (A full Packet on the wire is the payload and our header, less the 2 bytes of PPP that the device
// adds.)
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "ns3-backend/test/fabrics_testing.h"
#include "ns3/data-rate.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/node-container.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

namespace drydock {
namespace {

using ns3::CreateObject;
using ns3::NetDevice;
using ns3::Packet;
using ns3::Ptr;

constexpr int64_t kPppHeader = 2;

// Hosts send to host 0 over a tree of switches whose only path leads to it.
class StockNetwork {
 public:
  explicit StockNetwork(const Topology& topology) : topology_(topology) {
    if (ns3::Time::GetResolution() != ns3::Time::PS) ns3::Time::SetResolution(ns3::Time::PS);
    nodes_.Create(static_cast<uint32_t>(topology.host_count()) +
                  static_cast<uint32_t>(topology.fabric.switches.size()));
    for (const FabricLink& link : topology.fabric.links) AddCable(link);
  }
  ~StockNetwork() { ns3::Simulator::Destroy(); }

  // The device by which a node sends toward host 0.
  void SetNextHop(uint32_t node, uint32_t link, uint32_t end) { next_hop_[node] = {link, end}; }

  void Send(const Order& order) {
    const auto at = ns3::PicoSeconds(order.at.ps());
    ns3::Simulator::Schedule(at, &StockNetwork::Emit, this, order.message);
  }

  // The time at which the message of each host was complete at host 0.
  std::map<HostId, int64_t> Run() {
    ns3::Simulator::Run();
    return done_;
  }

 private:
  uint32_t NodeOf(const LinkEnd& end) const {
    return static_cast<uint32_t>(end.index + (end.is_switch ? topology_.host_count() : 0));
  }

  void AddCable(const FabricLink& link) {
    auto channel = CreateObject<ns3::PointToPointChannel>();
    channel->SetAttribute("Delay", ns3::TimeValue(ns3::PicoSeconds(link.delay.ps())));
    cables_.emplace_back();
    for (const LinkEnd& end : {link.a, link.b}) {
      auto device = CreateObject<ns3::PointToPointNetDevice>();
      const auto rate = static_cast<uint64_t>(link.rate.bits_per_second());
      device->SetAttribute("DataRate", ns3::DataRateValue(ns3::DataRate(rate)));
      auto queue = CreateObject<ns3::DropTailQueue<Packet>>();
      queue->SetMaxSize(ns3::QueueSize(ns3::QueueSizeUnit::PACKETS, 1'000'000));
      device->SetQueue(queue);
      device->SetMtu(65535);
      nodes_.Get(NodeOf(end))->AddDevice(device);
      device->SetReceiveCallback(ns3::MakeCallback(&StockNetwork::Receive, this));
      device->Attach(channel);
      cables_.back().push_back(device);
    }
  }

  void Emit(Message message) {
    left_[message.source] = message.size.count();
    const Transport& transport = topology_.transport;
    for (int64_t sent = 0; sent < message.size.count(); sent += transport.mtu.count()) {
      const int64_t payload = std::min(transport.mtu.count(), message.size.count() - sent);
      const int64_t wire = payload + transport.header.count() - kPppHeader;
      auto packet = ns3::Create<Packet>(static_cast<uint32_t>(wire));
      origin_[packet->GetUid()] = {message.source, payload};
      Forward(static_cast<uint32_t>(message.source), packet);
    }
  }

  void Forward(uint32_t node, Ptr<Packet> packet) {
    const auto [link, end] = next_hop_.at(node);
    ASSERT_TRUE(cables_[link][end]->Send(packet, ns3::Mac48Address::GetBroadcast(), 0x0800));
  }

  bool Receive(Ptr<NetDevice> device, Ptr<const Packet> packet, uint16_t, const ns3::Address&) {
    const uint32_t node = device->GetNode()->GetId();
    if (node != 0) {
      Forward(node, packet->Copy());
      return true;
    }
    const auto [source, payload] = origin_.at(packet->GetUid());
    left_[source] -= payload;
    if (left_[source] == 0) done_[source] = ns3::Simulator::Now().GetPicoSeconds();
    return true;
  }

  const Topology& topology_;
  ns3::NodeContainer nodes_;
  std::vector<std::vector<Ptr<ns3::PointToPointNetDevice>>> cables_;
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> next_hop_;
  std::map<uint64_t, std::pair<HostId, int64_t>> origin_;
  std::map<HostId, int64_t> left_;
  std::map<HostId, int64_t> done_;
};

FabricShape Shape() {
  FabricShape shape;
  shape.transport.packets_per_ack = 4;
  return shape;
}

using NextHops = std::vector<std::array<uint32_t, 3>>;  // node, link, end of that link

// Returns when the message of each host has arrived at host 0.
std::map<HostId, int64_t> StockTimes(const Topology& topology, const std::vector<Order>& orders,
                                     const NextHops& next_hops) {
  StockNetwork network(topology);
  for (const auto& [node, link, end] : next_hops) network.SetNextHop(node, link, end);
  for (const Order& order : orders) network.Send(order);
  return network.Run();
}

std::map<HostId, int64_t> OurTimes(const Topology& topology, const std::vector<Order>& orders) {
  const Outcome outcome = RunPackets(topology, orders);
  std::map<HostId, int64_t> times;
  for (size_t id = 0; id < orders.size(); ++id) {
    const HostId source = orders[id].message.source;
    times[source] = outcome.TimeOf(Notice::kDelivered, source, id);
  }
  return times;
}

TEST(StockNs3, OneCable) {
  const Topology topology = TwoHosts(Shape());
  const std::vector<Order> orders = {Transfer(1, 0, 100'000, Time::Ns(37))};
  EXPECT_EQ(OurTimes(topology, orders), StockTimes(topology, orders, {{1, 0, 1}}));
}

TEST(StockNs3, ChainOfDifferentCables) {
  Topology topology = Chain(3, Shape());
  const int64_t gbps[] = {400, 100, 200, 50};
  for (size_t i = 0; i < 4; ++i) {
    topology.fabric.links[i].rate = Bandwidth::BitsPerSecond(gbps[i] * 1'000'000'000);
    topology.fabric.links[i].delay = Time::Ns(100 + 333 * static_cast<int64_t>(i));
  }
  // Cable i leads from a (nearer to host 0) to b. The message fits into the window, so no host
  // waits for an acknowledgement, which stock devices lack.
  const std::vector<Order> orders = {Transfer(1, 0, 50'001)};
  EXPECT_EQ(OurTimes(topology, orders),
            StockTimes(topology, orders, {{1, 3, 1}, {4, 2, 1}, {3, 1, 1}, {2, 0, 1}}));
}

TEST(StockNs3, SimpleCongestionOfFourSenders) {
  // Starts 7 ns apart, so that no two frames meet at the same picosecond: the models may differ
  // only in the order of a tie.
  const Topology topology = Star(5, Shape());
  std::vector<Order> orders;
  NextHops next_hops = {{5, 0, 1}};
  for (uint32_t host = 1; host < 5; ++host) {
    orders.push_back(Transfer(static_cast<int>(host), 0, 60'000 + 1000 * host, Time::Ns(7 * host)));
    next_hops.push_back({host, host, 0});
  }
  EXPECT_EQ(OurTimes(topology, orders), StockTimes(topology, orders, next_hops));
}

TEST(StockNs3, FramesThatMeetAtOnePicosecondDifferInOrderOnly) {
  // Two frames reach the switch at the same time. Stock ns-3 forwards the one that was scheduled
  // first, this network the one from the lower port. In either order they leave at the same times.
  const Topology topology = Star(3, Shape());
  const std::vector<Order> orders = {Transfer(2, 0, 4096), Transfer(1, 0, 4096)};
  auto stock = StockTimes(topology, orders, {{3, 0, 1}, {1, 1, 0}, {2, 2, 0}});
  auto ours = OurTimes(topology, orders);
  EXPECT_LT(stock[2], stock[1]);
  EXPECT_LT(ours[1], ours[2]);
  EXPECT_EQ(stock[2], ours[1]);
  EXPECT_EQ(stock[1], ours[2]);
}

}  // namespace
}  // namespace drydock
