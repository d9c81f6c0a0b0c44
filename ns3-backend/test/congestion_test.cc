// What happens when hosts send more than a link can carry: pauses, marks, losses, rates.
#include <gtest/gtest.h>

#include <algorithm>

#include "ns3-backend/model/congestion/dcqcn.h"
#include "ns3-backend/model/fabric/ecn-marker.h"
#include "ns3-backend/model/host/receive-queue.h"
#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/fabrics_testing.h"
#include "ns3/nstime.h"

namespace drydock {
namespace {

using ns3::rdma::Dcqcn;
using ns3::rdma::DcqcnFlow;
using ns3::rdma::EcnMarker;
using ns3::rdma::ReceiveQueue;

constexpr int64_t kUs = 1'000'000;
constexpr int64_t kFullFrame = (4096 + 82) * 20;  // ps at 400 Gbps
constexpr int64_t kDelay = 500'000;

FabricShape Shape(FlowControl flow_control) {
  FabricShape shape;
  shape.transport.header = Bytes(82);
  shape.transport.flow_control = flow_control;
  return shape;
}

Topology StarWithBuffer(int hosts, const FabricShape& shape, int64_t buffer) {
  Topology topology = Star(hosts, shape);
  topology.fabric.switches[0].buffer = Bytes(buffer);
  return topology;
}

// All other hosts send `packets` to host 0.
std::vector<Order> Incast(int senders, int64_t packets) {
  std::vector<Order> orders;
  for (int i = 1; i <= senders; ++i) orders.push_back(Transfer(i, 0, 4096 * packets));
  return orders;
}

int64_t LastDelivery(const Outcome& out, int senders) {
  int64_t last = 0;
  for (int i = 1; i <= senders; ++i) {
    const int64_t at = out.TimeOf(Notice::kDelivered, i, static_cast<uint64_t>(i - 1));
    EXPECT_GE(at, 0) << "message of host " << i << " never arrived";
    last = std::max(last, at);
  }
  return last;
}

// ---- PFC ------------------------------------------------------------------------------------

TEST(Pfc, IncastIsPausedNotDroppedAndLosesNoTime) {
  const int senders = 8, packets = 400;
  const int64_t buffer = 2'000'000;  // an ideal switch would need several times as much
  const Outcome ideal = RunPackets(StarWithBuffer(senders + 1, Shape(FlowControl::kIdeal), buffer),
                                   Incast(senders, packets));
  ASSERT_GT(ideal.Counter("frames over buffer"), 0) << "the case must not fit the buffer";
  const Outcome out = RunPackets(StarWithBuffer(senders + 1, Shape(FlowControl::kPfc), buffer),
                                 Incast(senders, packets));
  EXPECT_EQ(out.Counter("dropped frames"), 0);
  EXPECT_GT(out.Counter("pause frames"), 0);
  EXPECT_LE(out.Counter("max buffer bytes"), buffer);
  // The port to host 0 is never idle from the first frame on.
  EXPECT_EQ(LastDelivery(out, senders), kFullFrame + 2 * kDelay + senders * packets * kFullFrame);
}

TEST(Pfc, ComputedHeadroomSufficesForAnyCableAndSizes) {
  for (const int64_t delay_ns : {0, 50, 1000, 20'000}) {
    for (const int senders : {2, 7, 15}) {
      FabricShape shape = Shape(FlowControl::kPfc);
      shape.delay = Time::Ns(delay_ns);
      shape.transport.attributes = {{"FabricSwitch::PauseAlpha", "0.01"},
                                    {"RdmaTransport::WindowBdp", "50"}};
      // Just above the headroom: 2 delays and some frames a port.
      const int64_t port = 2 * delay_ns * 50 + 6 * 4178;
      const Topology topology = StarWithBuffer(senders + 1, shape, (senders + 2) * port + 50'000);
      const Outcome out = RunPackets(topology, Incast(senders, 300));
      EXPECT_EQ(out.Counter("dropped frames"), 0) << delay_ns << " ns, " << senders;
      EXPECT_GT(out.Counter("pause frames"), 0) << delay_ns << " ns, " << senders;
      LastDelivery(out, senders);
    }
  }
}

TEST(Pfc, PausesSpreadToUnrelatedFlows) {
  // Hosts 0, 1 at switch a, hosts 2..9 at switch b. Hosts 2..5 send to 0 and congest its port; host
  // 6 sends to 1 over the same cable between the switches and is paused with them.
  const auto run = [](FlowControl control, bool with_incast) {
    const FabricShape shape = Shape(control);
    Topology t = Hosts(10, 1, shape);
    const LinkEnd a = AddSwitch(t, 0, shape), b = AddSwitch(t, 0, shape);
    for (int h = 0; h < 10; ++h) Cable(t, NicOf(h, 0), h < 2 ? a : b, shape);
    Cable(t, a, b, shape);
    Cable(t, a, b, shape);
    for (auto& node : t.fabric.switches) node.buffer = Bytes(1'500'000);
    std::vector<Order> orders = {Transfer(6, 1, 4096 * 200)};
    for (int h = 2; with_incast && h < 6; ++h) orders.push_back(Transfer(h, 0, 4096 * 1000));
    return RunPackets(t, orders);
  };
  const int64_t alone = run(FlowControl::kPfc, false).TimeOf(Notice::kDelivered, 6, 0);
  const int64_t among = run(FlowControl::kPfc, true).TimeOf(Notice::kDelivered, 6, 0);
  EXPECT_GT(among, alone * 3 / 2) << "head-of-line blocking";
}

TEST(Pfc, BufferWithoutRoomForTheHeadroomIsAnError) {
  const auto network = MakePacketNetwork(StarWithBuffer(3, Shape(FlowControl::kPfc), 100'000), {});
  ASSERT_FALSE(network.ok());
  EXPECT_EQ(network.error().message(),
            "switch switch0: with flow_control pfc its buffer must be at least 192188 bytes (the "
            "headroom of its ports), not 100000");
}

Topology RingOfSwitches(int switches, const FabricShape& shape, int64_t buffer) {
  Topology t = Hosts(switches, 1, shape);
  std::vector<LinkEnd> ring;
  for (int i = 0; i < switches; ++i) ring.push_back(AddSwitch(t, 0, shape));
  for (int i = 0; i < switches; ++i) {
    Cable(t, NicOf(i, 0), ring[i], shape);
    Cable(t, ring[i], ring[(i + 1) % switches], shape);
  }
  for (auto& node : t.fabric.switches) node.buffer = Bytes(buffer);
  return t;
}

TEST(Pfc, ACycleOfPausesFailsTheRun) {
  // Every host sends to the host two switches away, so each cable of the ring carries two flows,
  // and each switch holds the frames for which its neighbor has no room.
  const int switches = 5;
  const auto run = [](FlowControl control) {
    const Topology ring = RingOfSwitches(switches, Shape(control), 400'000);
    std::vector<Order> orders;
    for (HostId id = 0; id < switches; ++id) {
      orders.push_back(Transfer(id, (id + 2) % switches, 4096 * 4000));
    }
    return RunOrders(ring, MakePacketNetwork(ring, {})->get(), orders);
  };
  EXPECT_TRUE(run(FlowControl::kIdeal).ok());
  const Status status = run(FlowControl::kPfc);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(),
            "port 0 of host 0 has been paused for 200 ms without a break at 200 ms (class 3): the "
            "pauses of the fabric wait for each other in a cycle");
}

TEST(Pfc, AcknowledgementsInTheirOwnClassAreProtectedToo) {
  const int senders = 6;
  FabricShape shape = Shape(FlowControl::kPfc);
  shape.transport.attributes = {{"RdmaTransport::AckPriority", "5"},
                                {"RdmaTransport::DataPriority", "2"}};
  const Outcome out =
      RunPackets(StarWithBuffer(senders + 1, shape, 2'000'000), Incast(senders, 400));
  EXPECT_EQ(out.Counter("dropped frames"), 0);
  EXPECT_GT(out.Counter("pause frames"), 0);
  LastDelivery(out, senders);
}

// ---- ECN ------------------------------------------------------------------------------------

TEST(Ecn, MarksNothingBelowAllAboveAndTheRampBetween) {
  EcnMarker marker;
  marker.Configure(1000, 3000, 0.2, 7);
  int marked = 0;
  for (int i = 0; i < 100'000; ++i) {
    EXPECT_FALSE(marker.Marks(1000));
    EXPECT_TRUE(marker.Marks(3001));
    marked += marker.Marks(2000) ? 1 : 0;
  }
  EXPECT_NEAR(marked, 10'000, 500) << "half-way up a ramp to 0.2";
}

TEST(Ecn, EqualThresholdsAreAStep) {
  EcnMarker marker;
  marker.Configure(1000, 1000, 0.2, 7);
  EXPECT_FALSE(marker.Marks(1000));
  EXPECT_TRUE(marker.Marks(1001));
}

// ---- DCQCN ----------------------------------------------------------------------------------

DcqcnFlow Flow(int64_t line = 25'000'000'000) {
  const Dcqcn::Parameters parameters{1.0 / 256, 55 * kUs, 50 * kUs, 55 * kUs, 10'000'000,
                                     5,         50e6,     500e6,    100e6};
  return DcqcnFlow(parameters, line);
}

TEST(DcqcnFlow, RunsAtLineRateUntilNotified) {
  DcqcnFlow flow = Flow();
  EXPECT_EQ(flow.Send(0, 1000), 0);
  EXPECT_EQ(flow.GetRate(1'000'000 * kUs), 25e9);
}

TEST(DcqcnFlow, CutsByHalfAlphaThenRecoversHalfWayEachTick) {
  DcqcnFlow flow = Flow();
  flow.Notify(0);
  EXPECT_DOUBLE_EQ(flow.GetRate(0), 12.5e9) << "alpha starts at 1";
  EXPECT_EQ(flow.Send(0, 1000), 640'000) << "8000 bits at 12.5 Gb/s, ps";
  double rate = 12.5e9;
  for (int tick = 1; tick <= 5; ++tick) {
    rate = (rate + 25e9) / 2;
    EXPECT_DOUBLE_EQ(flow.GetRate(tick * 55 * kUs), rate) << "tick " << tick;
  }
}

TEST(DcqcnFlow, CutsAtMostOncePerInterval) {
  DcqcnFlow flow = Flow();
  flow.Notify(0);
  flow.Notify(49 * kUs);
  EXPECT_DOUBLE_EQ(flow.GetRate(49 * kUs), 12.5e9);
  flow.Notify(50 * kUs);
  EXPECT_LT(flow.GetRate(50 * kUs), 7e9);
}

TEST(DcqcnFlow, NeverFallsBelowMinRate) {
  DcqcnFlow flow = Flow();
  for (int i = 0; i < 1000; ++i) flow.Notify(i * 50 * kUs);
  EXPECT_DOUBLE_EQ(flow.GetRate(999 * 50 * kUs), 100e6);
}

TEST(DcqcnFlow, AdditiveThenHyperIncreaseBeyondTheOldTarget) {
  DcqcnFlow flow = Flow();
  flow.Notify(0);         // target 25, rate 12.5
  flow.Notify(50 * kUs);  // target 12.5, rate about 6.3
  const double before = flow.GetRate(50 * kUs + 5 * 55 * kUs);
  EXPECT_LT(before, 12.5e9) << "fast recovery stays below the target";
  // Sixth tick: the target grows by 50 Mb/s.
  const double target = 12.5e9 + 50e6;
  EXPECT_DOUBLE_EQ(flow.GetRate(50 * kUs + 6 * 55 * kUs), (before + target) / 2);
}

TEST(Dcqcn, IncastIsFairAndKeepsQueuesShort) {
  const int senders = 4, packets = 8000;
  FabricShape shape = Shape(FlowControl::kPfc);
  const auto run = [&](CongestionControl control, int threads) {
    shape.transport.congestion_control = control;
    // A window too large to keep the queue short by itself.
    shape.transport.attributes = {{"RdmaTransport::WindowBdp", "100"}};
    return RunPackets(StarWithBuffer(senders + 1, shape, 64'000'000), Incast(senders, packets),
                      threads);
  };
  const Outcome none = run(CongestionControl::kNone, 1), dcqcn = run(CongestionControl::kDcqcn, 1);
  EXPECT_GT(dcqcn.Counter("marked frames"), 0);
  EXPECT_GT(dcqcn.Counter("congestion notifications"), 0);
  EXPECT_LT(dcqcn.Counter("max queue bytes"), none.Counter("max queue bytes"));
  // The rate recovers from the first cuts in steps of 55 us; these 2.7 ms have few of them.
  EXPECT_LT(LastDelivery(dcqcn, senders), 3 * LastDelivery(none, senders));
  EXPECT_EQ(dcqcn.Hash(), run(CongestionControl::kDcqcn, 2).Hash());
}

// ---- Loss -----------------------------------------------------------------------------------

Message Of(int64_t bytes) {
  Message message;
  message.size = Bytes(bytes);
  return message;
}

TEST(ReceiveQueue, KeepsEarlyPacketsAndFillsGaps) {
  ReceiveQueue queue;
  queue.Announce(Of(3500));
  queue.Announce(Of(500));
  int done = 0;
  const auto take = [&](uint32_t psn) {
    return queue.Take(psn, 1000, true, [&](const Message&) { ++done; });
  };
  EXPECT_EQ(take(0), ReceiveQueue::IN_ORDER);
  EXPECT_EQ(take(2), ReceiveQueue::EARLY);
  EXPECT_EQ(take(4), ReceiveQueue::EARLY);
  EXPECT_EQ(take(2), ReceiveQueue::DUPLICATE);
  EXPECT_EQ(queue.GetReach(), 4u);
  EXPECT_EQ(take(1), ReceiveQueue::IN_ORDER);
  EXPECT_EQ(queue.GetNext(), 3u);
  EXPECT_EQ(done, 0);
  EXPECT_EQ(take(3), ReceiveQueue::IN_ORDER);
  EXPECT_EQ(queue.GetNext(), 5u);
  EXPECT_EQ(done, 2);
  EXPECT_TRUE(queue.Idle());
}

TEST(Loss, EveryMessageArrivesOnceAndSelectiveRepeatResendsLess) {
  const int senders = 6, packets = 500;
  int64_t repeated[2];
  int i = 0;
  for (const auto retransmission : {Retransmission::kGoBackN, Retransmission::kSelectiveRepeat}) {
    FabricShape shape = Shape(FlowControl::kNone);
    shape.transport.retransmission = retransmission;
    shape.transport.attributes = {{"RdmaTransport::AckTimeout", "1ms"},
                                  {"RdmaTransport::WindowBdp", "8"}};
    const Topology topology = StarWithBuffer(senders + 1, shape, 200'000);
    const Outcome out = RunPackets(topology, Incast(senders, packets));
    LastDelivery(out, senders);
    EXPECT_GT(out.Counter("dropped frames"), 0);
    EXPECT_GE(out.Counter("repeated packets"), out.Counter("dropped frames"));
    EXPECT_EQ(out.Counter("packets") - out.Counter("repeated packets"), senders * packets);
    for (int s = 1; s <= senders; ++s) {
      EXPECT_GE(out.TimeOf(Notice::kSent, s, static_cast<uint64_t>(s - 1)), 0);
    }
    EXPECT_EQ(out.Hash(), RunPackets(topology, Incast(senders, packets), 2).Hash());
    repeated[i++] = out.Counter("repeated packets");
  }
  EXPECT_LT(repeated[1], repeated[0]);
}

TEST(Loss, LostTailIsSentAgainAfterTheTimeout) {
  // A buffer of three packets and a burst of three from each sender: some last packet is dropped.
  FabricShape shape = Shape(FlowControl::kNone);
  shape.transport.attributes = {{"RdmaTransport::AckTimeout", "1ms"}};
  const Outcome out = RunPackets(StarWithBuffer(9, shape, 3 * 4178), Incast(8, 3));
  EXPECT_GT(out.Counter("ack timeouts"), 0);
  EXPECT_GT(LastDelivery(out, 8), 1000 * kUs);
}

TEST(Loss, QueuePairThatGivesUpFailsTheRun) {
  FabricShape shape = Shape(FlowControl::kNone);
  shape.transport.attributes = {{"RdmaTransport::AckTimeout", "1ns"},
                                {"RdmaTransport::RetryCount", "2"}};
  const Topology star = StarWithBuffer(2, shape, 1'000'000);
  const auto network = MakePacketNetwork(star, {});
  ASSERT_TRUE(network.ok());
  const Status status = RunOrders(star, network->get(), {Transfer(1, 0, 1000)});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(),
            "a queue pair from host 1 to host 0 gave up at 3 ns: 2 retries without an "
            "acknowledgement");
}

// ---- Attributes -----------------------------------------------------------------------------

std::string Refusal(const std::string& name, const std::string& value) {
  FabricShape shape = Shape(FlowControl::kIdeal);
  shape.transport.attributes = {{name, value}};
  const auto network = MakePacketNetwork(Star(2, shape), {});
  return network.ok() ? "" : network.error().message();
}

TEST(Attributes, UnknownNamesAndValuesAreErrors) {
  EXPECT_EQ(Refusal("Dcqcn::Gane", "0.1"),
            "transport: the packet network has no attribute 'Dcqcn::Gane'; did you mean "
            "'Dcqcn::Gain'?");
  EXPECT_EQ(Refusal("Dcqcn::Gain", "2"),
            "transport: attribute 'Dcqcn::Gain' is '2'; it must be a number, from 0 to 1");
  EXPECT_EQ(Refusal("Dcqcn::Gain", "much"),
            "transport: attribute 'Dcqcn::Gain' is 'much'; it must be a number, from 0 to 1");
  EXPECT_EQ(Refusal("Dcqcn::AlphaInterval", "10 quarks"),
            "transport: attribute 'Dcqcn::AlphaInterval' is '10 quarks'; it must be a time such as "
            "'55 us', from 1 ns to 1000 s");
  EXPECT_EQ(
      Refusal("RdmaTransport::Mtu", "100"),
      "transport: attribute 'RdmaTransport::Mtu' cannot be set: 'mtu' of the transport decides it");
  EXPECT_EQ(Refusal("FabricSwitch::Ecn", "true"),
            "transport: attribute 'FabricSwitch::Ecn' cannot be set: 'congestion_control' of the "
            "transport decides it");
  EXPECT_EQ(Refusal("Dcqcn::IncreaseBytes", "99999999999999999999"),
            "transport: attribute 'Dcqcn::IncreaseBytes' is '99999999999999999999'; it must be a "
            "whole number, at least 1");
  EXPECT_EQ(Refusal("RdmaTransport::AckTimeout", "99999999999999 s"),
            "transport: attribute 'RdmaTransport::AckTimeout' is '99999999999999 s'; it must be a "
            "time such as '55 us', from 1 ns to 1000 s");
  EXPECT_EQ(Refusal("Dcqcn::AlphaInterval", "0 s"),
            "transport: attribute 'Dcqcn::AlphaInterval' is '0 s'; it must be a time such as '55 "
            "us', from 1 ns to 1000 s");
  EXPECT_EQ(Refusal("FabricSwitch::EcnMin", "500000"),
            "transport: attribute 'FabricSwitch::EcnMin' must not exceed 'FabricSwitch::EcnMax'");
  EXPECT_EQ(Refusal("Swift::FlowMax", "0.01"),
            "transport: attribute 'Swift::FlowMin' must not exceed 'Swift::FlowMax'");
  EXPECT_EQ(Refusal("Timely::LowRoundTrip", "1 ms"),
            "transport: attribute 'Timely::LowRoundTrip' must not exceed 'Timely::HighRoundTrip'");
  EXPECT_EQ(Refusal("Timely::MinRate", "999 Kbps"),
            "transport: attribute 'Timely::MinRate' is '999 Kbps'; it must be a rate such as '50 "
            "Mbps', at least 1 Mbps");
  EXPECT_EQ(Refusal("RdmaTransport::WindowBdp", "1e300"),
            "transport: attribute 'RdmaTransport::WindowBdp' is '1e300'; it must be a number, from "
            "0 to 1000000");
  EXPECT_EQ(Refusal("RdmaTransport::WindowBdp", "nan"),
            "transport: attribute 'RdmaTransport::WindowBdp' is 'nan'; it must be a number, from 0 "
            "to 1000000");
  EXPECT_EQ(Refusal("Dcqcn::AlphaInterval", "10 us"), "");
  EXPECT_EQ(Refusal("Dcqcn::MinRate", "1.5 Gbps"), "");
  EXPECT_EQ(Refusal("FabricSwitch::EcnAtDequeue", "true"), "");
}

}  // namespace
}  // namespace drydock
