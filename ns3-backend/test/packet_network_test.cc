// Does the packet network match closed forms, and keep the contract of
// core/network/network.h?
#include "ns3-backend/packet_network.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "ns3-backend/test/fabrics_testing.h"

namespace drydock {
namespace {

// One byte takes 20 ps at 400 Gbps, which keeps the sums below simple.
constexpr int64_t kPsPerByte = 20;
constexpr int64_t kDelay = 500'000;

FabricShape Shape() {
  FabricShape shape;
  shape.transport.mtu = Bytes(4096);
  shape.transport.header = Bytes(82);
  shape.transport.ack = Bytes(84);
  return shape;
}

constexpr int64_t kFullFrame = (4096 + 82) * kPsPerByte;
constexpr int64_t kAck = 84 * kPsPerByte;

TEST(ClosedForm, OnePacketTakesSerializationAndDelay) {
  const Outcome out = RunPackets(TwoHosts(Shape()), {Transfer(0, 1, 1000)});
  const int64_t there = (1000 + 82) * kPsPerByte + kDelay;
  EXPECT_EQ(out.TimeOf(Notice::kDelivered, 0, 0), there);
  EXPECT_EQ(out.TimeOf(Notice::kSent, 0, 0), there + kAck + kDelay);
  EXPECT_EQ(out.Counter("packets"), 1);
  EXPECT_EQ(out.Counter("acks"), 1);
  EXPECT_EQ(out.Counter("packet hops"), 2);
}

TEST(ClosedForm, NicLatencyComesBeforeTheFirstBitAndAfterTheLast) {
  FabricShape shape = Shape();
  shape.nic_latency = Time::Ns(300);
  const Outcome out = RunPackets(TwoHosts(shape), {Transfer(0, 1, 1000, Time::Us(1))});
  const int64_t there = 1'000'000 + 300'000 + (1000 + 82) * kPsPerByte + kDelay;
  EXPECT_EQ(out.TimeOf(Notice::kDelivered, 0, 0), there + 300'000);
  EXPECT_EQ(out.TimeOf(Notice::kSent, 0, 0), there + kAck + kDelay);
}

TEST(ClosedForm, StoreAndForwardPipelineOverSwitches) {
  // n frames over k + 1 links: the first crosses all links, the others follow one frame time apart.
  for (const int switches : {1, 2, 5}) {
    FabricShape shape = Shape();
    shape.switch_latency = Time::Ns(250);
    const Outcome out = RunPackets(Chain(switches, shape), {Transfer(0, 1, 4096 * 10)});
    const int64_t first = (switches + 1) * (kFullFrame + kDelay) + switches * 250'000;
    EXPECT_EQ(out.TimeOf(Notice::kDelivered, 0, 0), first + 9 * kFullFrame) << switches;
    EXPECT_EQ(out.Counter("packet hops"), (switches + 1) * (10 + out.Counter("acks")));
    EXPECT_EQ(out.Counter("max queue bytes"), 0) << "equal rates never queue";
  }
}

TEST(ClosedForm, MessagesAreCutIntoPacketsOfAnyMtu) {
  for (const int64_t mtu : {256, 1000, 1024, 1500, 2048, 4096, 9000, 65'535}) {
    FabricShape shape = Shape();
    shape.transport.mtu = Bytes(mtu);
    const int64_t bytes = 3 * 65'535 + 1;
    const int64_t full = bytes / mtu, rest = bytes % mtu;
    const Outcome out = RunPackets(Chain(1, shape), {Transfer(0, 1, bytes)});
    EXPECT_EQ(out.Counter("packets"), full + (rest > 0 ? 1 : 0)) << mtu;
    // The first link carries all frames. After the last frame the second link has two more to
    // carry: the last full frame, which is longer, and the remainder.
    const int64_t frame = (mtu + 82) * kPsPerByte;
    const int64_t tail = rest > 0 ? (rest + 82) * kPsPerByte : 0;
    EXPECT_EQ(out.TimeOf(Notice::kDelivered, 0, 0), (full + 1) * frame + tail + 2 * kDelay) << mtu;
  }
}

TEST(ClosedForm, TwoNicsOfAHostReachEachOtherOverTheSpine) {
  Order order = Transfer(0, 0, 1000);
  order.message.destination_nic = 1;
  for (const int threads : {1, 2}) {
    const Outcome out = RunPackets(RailFabric(1, 2, 1, 1, Shape()), {order}, threads);
    const int64_t there = 4 * ((1000 + 82) * kPsPerByte + kDelay);
    EXPECT_EQ(out.TimeOf(Notice::kDelivered, 0, 0), there);
    EXPECT_EQ(out.TimeOf(Notice::kSent, 0, 0), there + 4 * (kAck + kDelay));
  }
}

TEST(ClosedForm, SlowestLinkSetsThePace) {
  Topology topology = Chain(2, Shape());
  topology.fabric.links[1].rate = Bandwidth::BitsPerSecond(100'000'000'000);
  const Outcome out = RunPackets(topology, {Transfer(0, 1, 4096 * 10)});
  EXPECT_EQ(out.TimeOf(Notice::kDelivered, 0, 0),
            2 * kFullFrame + 10 * 4 * kFullFrame + 3 * kDelay);
}

TEST(ClosedForm, WindowNeverLimitsASingleFlow) {
  // 10,000 packets at line rate, although 2 BDP is far less.
  const Outcome out = RunPackets(Chain(3, Shape()), {Transfer(0, 1, 4096 * 10'000)});
  EXPECT_EQ(out.TimeOf(Notice::kDelivered, 0, 0), 4 * (kFullFrame + kDelay) + 9999 * kFullFrame);
  EXPECT_EQ(out.Counter("acks"), 10'000 / 16);
}

TEST(ClosedForm, IncastSharesTheLastLink) {
  // n senders of equal load through one port: the port is never idle from the first frame on, and
  // all senders end within one round of each other.
  const int senders = 8, packets = 200;
  std::vector<Order> orders;
  for (int i = 1; i <= senders; ++i) orders.push_back(Transfer(i, 0, 4096 * packets));
  const Outcome out = RunPackets(Star(senders + 1, Shape()), orders);
  int64_t first = INT64_MAX, last = 0;
  for (int i = 1; i <= senders; ++i) {
    const int64_t done = out.TimeOf(Notice::kDelivered, i, static_cast<uint64_t>(i - 1));
    first = std::min(first, done);
    last = std::max(last, done);
  }
  EXPECT_EQ(last, kFullFrame + 2 * kDelay + senders * packets * kFullFrame);
  EXPECT_LE(last - first, 40 * senders * kFullFrame) << "shares are equal up to a window";
  EXPECT_GT(out.Counter("max queue bytes"), 0);
}

TEST(ClosedForm, QueuePairsOfAPortTakeTurns) {
  // Two equal messages on two queue pairs share the wire packet by packet; on one, they queue.
  const Outcome two = RunPackets(TwoHosts(Shape()), {Transfer(0, 1, 4096 * 100, Time(), 1),
                                                     Transfer(0, 1, 4096 * 100, Time(), 2)});
  // The first starts alone: 1 1 2 1 2 ... 1 2 2.
  EXPECT_EQ(two.TimeOf(Notice::kDelivered, 0, 0), 198 * kFullFrame + kDelay);
  EXPECT_EQ(two.TimeOf(Notice::kDelivered, 0, 1), 200 * kFullFrame + kDelay);
  const Outcome one = RunPackets(TwoHosts(Shape()), {Transfer(0, 1, 4096 * 100, Time(), 1),
                                                     Transfer(0, 1, 4096 * 100, Time(), 1)});
  EXPECT_EQ(one.TimeOf(Notice::kDelivered, 0, 0), 100 * kFullFrame + kDelay);
  EXPECT_EQ(one.TimeOf(Notice::kDelivered, 0, 1), 200 * kFullFrame + kDelay);
}

TEST(Transport, AcknowledgesEachSixteenthPacketAndTheLast) {
  const Outcome out = RunPackets(TwoHosts(Shape()), {Transfer(0, 1, 4096 * 40 + 1)});
  EXPECT_EQ(out.Counter("packets"), 41);
  EXPECT_EQ(out.Counter("acks"), 3);  // after 16, 32 and 41
}

TEST(Transport, AcknowledgementsFewerThanTheWindowDoNotHang) {
  FabricShape shape = Shape();
  shape.transport.packets_per_ack = 1'000'000;
  shape.delay = Time::Ns(1);
  const Outcome out = RunPackets(TwoHosts(shape), {Transfer(0, 1, 4096 * 300)});
  EXPECT_GT(out.TimeOf(Notice::kSent, 0, 0), 0);
}

TEST(Ecmp, SpreadsFlowsAndKeepsEachOnOnePath) {
  // 8 spines; 64 flows of one packet each, then the same again: the second packet of a flow queues
  // only behind the first, and more than half of the spines are in use.
  const Topology topology = RailFabric(8, 1, 4, 8, Shape());
  std::vector<Order> orders;
  for (uint32_t flow = 0; flow < 64; ++flow) {
    orders.push_back(Transfer(static_cast<int>(flow % 4), 4 + static_cast<int>(flow / 4 % 4),
                              4096 * 50, Time(), flow));
  }
  const Outcome spread = RunPackets(topology, orders);
  for (Order& order : orders) order.message.flow = 0;
  const Outcome fixed = RunPackets(RailFabric(8, 1, 4, 1, Shape()), orders);
  int64_t last_spread = 0, last_fixed = 0;
  for (uint64_t id = 0; id < 64; ++id) {
    const HostId source = orders[id].message.source;
    last_spread = std::max(last_spread, spread.TimeOf(Notice::kDelivered, source, id));
    last_fixed = std::max(last_fixed, fixed.TimeOf(Notice::kDelivered, source, id));
  }
  // One spine carries the traffic of four hosts over one link; eight carry it nearly at line rate.
  EXPECT_GT(last_fixed, 4 * 16 * 50 * kFullFrame);
  EXPECT_LT(last_spread, last_fixed / 2);
}

TEST(Contract, MessagesOfOneFlowArriveInOrder) {
  std::vector<Order> orders;
  for (int i = 0; i < 200; ++i) {
    orders.push_back(Transfer(i % 4, 4 + i % 3, 1 + 997 * i, Time::Ns(10 * i), 0));
  }
  const Outcome out = RunPackets(FatTree(4, Shape()), orders);
  std::map<std::pair<HostId, HostId>, uint64_t> last;
  int delivered = 0;
  for (const auto& host : out.notices) {
    for (const Notice& notice : host) {
      if (notice.kind != Notice::kDelivered) continue;
      ++delivered;
      uint64_t& before = last[{notice.source, notice.host}];
      EXPECT_GE(notice.id + 1, before + 1);
      before = notice.id;
    }
  }
  EXPECT_EQ(delivered, 200);
}

// Requests many callbacks at one time and records their order.
class TieHost : public HostActor {
 public:
  TieHost(HostPort* port, HostId host) : port_(port), host_(host) {}
  void Start() override {
    if (host_ == 0) {
      port_->At(Time::Ns(900), 7);
      port_->At(Time::Ns(200), 3);
      port_->At(Time::Ns(900), 3);  // moved
      port_->At(Time::Ns(900), 5);
    }
    if (host_ != 0) Send(0, static_cast<MessageId>(10 - host_));
  }
  void OnTimer(TimerId id) override { Note("timer", id); }
  void OnSent(const Message& message) override { Note("sent", message.id); }
  void OnDelivered(const Message& message) override {
    Note("delivered", static_cast<uint64_t>(message.source));
    if (log.size() == 4) port_->At(port_->Now(), 1);  // due at once, before other deliveries
  }
  void Send(HostId to, MessageId id) {
    Message message;
    message.id = id;
    message.source = host_;
    message.destination = to;
    message.source_nic = 0;
    message.destination_nic = static_cast<int16_t>(4 - host_);  // one NIC each: no queueing
    message.size = Bytes(918);
    port_->Send(message);
  }
  std::vector<std::string> log;

 private:
  void Note(const std::string& kind, uint64_t id) {
    log.push_back(std::to_string(port_->Now().ps()) + " " + kind + " " + std::to_string(id));
  }
  HostPort* port_;
  HostId host_;
};

TEST(Contract, CallbacksOfOneTimeAreOrderedByContent) {
  // Hosts 1 to 3 send 1000 B to host 0 over separate cables: all arrive at 20 + 880 = 900 ns.
  FabricShape shape = Shape();
  shape.delay = Time::Ns(880);
  Topology topology = Hosts(4, 4, shape);
  for (int host = 1; host < 4; ++host) {
    Cable(topology, NicOf(0, 4 - host), NicOf(host, 0), shape);
  }
  // All other NICs are at one switch, so that the fabric is connected.
  const LinkEnd hub = AddSwitch(topology, 0, shape);
  for (int host = 0; host < 4; ++host) {
    for (int nic = 0; nic < 4; ++nic) {
      if ((host == 0 && nic == 0) || (host > 0 && nic > 0)) {
        Cable(topology, NicOf(host, nic), hub, shape);
      }
    }
  }
  for (int host = 1; host < 4; ++host) Cable(topology, NicOf(host, 0), hub, shape);
  for (int nic = 1; nic < 4; ++nic) Cable(topology, NicOf(0, nic), hub, shape);
  auto network = MakePacketNetwork(topology, {});
  ASSERT_TRUE(network.ok()) << network.error().ToString();
  std::vector<TieHost> hosts;
  for (HostId id = 0; id < 4; ++id) hosts.emplace_back(network.value()->port(id), id);
  std::vector<HostActor*> actors;
  for (TieHost& host : hosts) actors.push_back(&host);
  ASSERT_TRUE(network.value()->Run(actors).ok());
  EXPECT_EQ(hosts[0].log,
            (std::vector<std::string>{"900000 timer 3", "900000 timer 5", "900000 timer 7",
                                      "900000 delivered 1", "900000 timer 1", "900000 delivered 2",
                                      "900000 delivered 3"}));
}

// Counts down on one timer.
class Countdown : public HostActor {
 public:
  Countdown(HostPort* port, int left) : port_(port), left_(left) {}
  void Start() override { port_->At(Time::Us(1), 0); }
  void OnTimer(TimerId id) override {
    last = port_->Now();
    if (--left_ > 0) port_->At(port_->Now() + Time::Us(1), id);
  }
  void OnSent(const Message&) override {}
  void OnDelivered(const Message&) override {}
  Time last;

 private:
  HostPort* port_;
  int left_;
};

TEST(Contract, ClusterOfOneHostNeedsNoFabric) {
  auto network = MakePacketNetwork(Hosts(1, 0, Shape()), {.threads = 2});
  ASSERT_TRUE(network.ok()) << network.error().ToString();
  Countdown host(network.value()->port(0), 1000);
  HostActor* const actors[] = {&host};
  EXPECT_TRUE(network.value()->Run(actors).ok());
  EXPECT_EQ(host.last, Time::Us(1000));
}

TEST(Errors, DisconnectedFabric) {
  Topology topology = TwoHosts(Shape());
  topology.fabric.links.clear();
  const auto network = MakePacketNetwork(topology, {});
  ASSERT_FALSE(network.ok());
  EXPECT_EQ(network.error().message(),
            "the fabric is disconnected: NIC 0 of host 0 cannot reach NIC 0 of host 1");
}

TEST(Errors, InvalidCableAndTransport) {
  Topology topology = Star(2, Shape());
  topology.fabric.links[1].rate = Bandwidth();
  topology.transport.packets_per_ack = 0;
  topology.fabric.links[0].a.nic = 3;
  const auto network = MakePacketNetwork(topology, {});
  ASSERT_FALSE(network.ok());
  EXPECT_EQ(network.error().ToString(),
            "error: transport: packets_per_ack must be at least 1, not 0\n"
            "error: fabric link 0 (host 0 NIC 3 to switch0): host 0 NIC 3 does not exist\n"
            "error: fabric link 1 (host 1 NIC 0 to switch0): its rate must be above 0");
}

TEST(Errors, ThreadsBelowOne) {
  const auto network = MakePacketNetwork(TwoHosts(Shape()), {.threads = 0});
  ASSERT_FALSE(network.ok());
  EXPECT_EQ(network.error().message(), "the packet network needs at least 1 thread, not 0");
}

TEST(Errors, MessageBetweenUnconnectedRails) {
  // Two rails without a spine: NIC 0 reaches NIC 0, never NIC 1.
  const Topology topology = RailFabric(4, 2, 4, 0, Shape());
  auto network = MakePacketNetwork(topology, {.threads = 2});
  ASSERT_TRUE(network.ok()) << network.error().ToString();
  Order order = Transfer(2, 3, 1000, Time::Us(1));
  order.message.destination_nic = 1;
  const Status status = RunOrders(topology, network->get(), {order});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(),
            "NIC 0 of host 2 cannot reach NIC 1 of host 3 over the fabric, but has a message for "
            "it at 1 us");
}

// ---- Cut-through ----------------------------------------------------------------------------

FabricShape CutThrough(int bytes) {
  FabricShape shape = Shape();
  shape.transport.attributes = {{"FabricSwitch::CutThrough", std::to_string(bytes)}};
  return shape;
}

TEST(CutThrough, EachSwitchDelaysAFrameByItsHeadOnly) {
  // k switches: k times the head and k + 1 cables, and the frame once.
  for (const int switches : {1, 2, 5}) {
    const Outcome out = RunPackets(Chain(switches, CutThrough(64)), {Transfer(0, 1, 4096)});
    EXPECT_EQ(out.TimeOf(Notice::kDelivered, 0, 0),
              switches * 64 * 20 + (switches + 1) * kDelay + kFullFrame);
  }
}

TEST(CutThrough, AQueuedFrameIsStoredAndForwarded) {
  // Two senders at once into one port: the second frame waits until the first has left, and is then
  // complete. Its last bit leaves one frame time later.
  const Outcome out =
      RunPackets(Star(3, CutThrough(64)), {Transfer(1, 0, 4096), Transfer(2, 0, 4096)});
  EXPECT_EQ(out.TimeOf(Notice::kDelivered, 1, 0), 64 * 20 + 2 * kDelay + kFullFrame);
  EXPECT_EQ(out.TimeOf(Notice::kDelivered, 2, 1), 64 * 20 + 2 * kDelay + 2 * kFullFrame);
}

TEST(CutThrough, AFasterOutputEndsWithTheInput) {
  Topology topology = Star(2, CutThrough(64));
  topology.fabric.links[0].rate = Bandwidth::BitsPerSecond(100'000'000'000);  // host 0 is slow
  const Outcome out = RunPackets(topology, {Transfer(0, 1, 4096)});
  EXPECT_EQ(out.TimeOf(Notice::kDelivered, 0, 0), 4 * kFullFrame + 2 * kDelay)
      << "the last bit is forwarded as it arrives";
}

TEST(CutThrough, IsTheSameForAnyNumberOfThreads) {
  const Topology topology = RailFabric(8, 2, 4, 2, CutThrough(64));
  std::vector<Order> orders;
  for (int i = 0; i < 64; ++i) {
    orders.push_back(Transfer(i % 8, (i + 1 + i / 8 % 7) % 8, 4096 * 20 + i));
  }
  const uint64_t hash = RunPackets(topology, orders).Hash();
  EXPECT_EQ(RunPackets(topology, orders, 2).Hash(), hash);
  EXPECT_EQ(RunPackets(topology, orders, 3).Hash(), hash);
}

}  // namespace
}  // namespace drydock
