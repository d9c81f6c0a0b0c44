// How does each congestion control react to its signals, and to a congested fabric?
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "ns3-backend/model/congestion/dctcp.h"
#include "ns3-backend/model/congestion/hpcc.h"
#include "ns3-backend/model/congestion/swift.h"
#include "ns3-backend/model/congestion/timely.h"
#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/fabrics_testing.h"

namespace drydock {
namespace {

using ns3::rdma::AckReport;
using ns3::rdma::DctcpFlow;
using ns3::rdma::FlowPath;
using ns3::rdma::HpccFlow;
using ns3::rdma::SwiftFlow;
using ns3::rdma::Telemetry;
using ns3::rdma::TimelyFlow;

constexpr int64_t kUs = 1'000'000;
// 100 Gb/s and 8 us: a window of 100 KB fills the line.
constexpr FlowPath kPath{100'000'000'000, 8 * kUs, 1000, 3};
constexpr int64_t kFull = 100'000;

AckReport Ack(int64_t now, int64_t bytes) {
  AckReport report{};
  report.now = now;
  report.roundTrip = -1;
  report.bytes = bytes;
  return report;
}

// ---- HPCC -----------------------------------------------------------------------------------

Telemetry OneHop(int64_t time, uint64_t sent, int64_t queue) {
  Telemetry telemetry;
  telemetry.Add({0, time, sent, queue, 100'000'000'000});
  return telemetry;
}

TEST(Hpcc, StartsWithTheWindowThatFillsTheLine) {
  HpccFlow flow({0.95, 5, 80}, kPath);
  EXPECT_EQ(flow.GetWindow(), kFull);
  EXPECT_EQ(flow.Send(0, 1000), 80'000) << "8000 bits at 100 Gb/s, ps";
}

TEST(Hpcc, LoadIsTheSentShareAndTheQueue) {
  HpccFlow flow({0.95, 5, 80}, kPath);
  AckReport report = Ack(0, 1000);
  Telemetry telemetry = OneHop(0, 0, 50'000);
  report.telemetry = &telemetry;
  flow.Acknowledge(report);
  // One round trip later the port has sent 100 KB, its maximum, and 50 KB wait: 1 + 0.5.
  telemetry = OneHop(8 * kUs, 100'000, 50'000);
  report.acked = 1;
  report.next = 100;
  flow.Acknowledge(report);
  EXPECT_DOUBLE_EQ(flow.GetLoad(), 1.5);
  // W = Wc / (U / eta) + W_AI.
  EXPECT_EQ(flow.GetWindow(), static_cast<int64_t>(100'000 / (1.5 / 0.95) + 80 + 0.5));
}

TEST(Hpcc, GrowsInStepsThenInProportionOnIdleLinks) {
  HpccFlow flow({0.95, 2, 80}, kPath);
  AckReport report = Ack(0, 1000);
  Telemetry telemetry = OneHop(0, 0, 100'000);
  report.telemetry = &telemetry;
  flow.Acknowledge(report);
  int64_t time = 0;
  uint64_t sent = 0;
  uint64_t psn = 0;
  const auto round = [&](uint64_t bytes, int64_t queue) {
    telemetry = OneHop(time += 8 * kUs, sent += bytes, queue);
    report.acked = ++psn;
    report.next = psn;
    flow.Acknowledge(report);
    return flow.GetWindow();
  };
  const int64_t cut = round(100'000, 100'000);  // load 2
  EXPECT_EQ(cut, 47'500 + 80);
  EXPECT_EQ(round(50'000, 0), cut + 80) << "half full: a step";
  EXPECT_EQ(round(50'000, 0), cut + 160);
  EXPECT_NEAR(round(50'000, 0), (cut + 160) * 0.95 / 0.5 + 80, 1) << "third round: in proportion";
}

TEST(Hpcc, CutsOnlyOnceARoundTripFromOneReference) {
  HpccFlow flow({0.95, 5, 80}, kPath);
  AckReport report = Ack(0, 1000);
  Telemetry telemetry = OneHop(0, 0, 100'000);
  report.telemetry = &telemetry;
  flow.Acknowledge(report);
  report.acked = 1;
  report.next = 100;
  telemetry = OneHop(8 * kUs, 100'000, 100'000);
  flow.Acknowledge(report);
  const int64_t once = flow.GetWindow();
  for (uint64_t i = 2; i < 10; ++i) {  // the same load, all of packets before the 100th
    report.acked = i;
    telemetry = OneHop(8 * kUs + static_cast<int64_t>(i) * kUs, 100'000 + i * 12'500, 100'000);
    flow.Acknowledge(report);
  }
  EXPECT_NEAR(flow.GetWindow(), once * 0.95 / 2 + 80, 1) << "from Wc, not from the last window";
}

// ---- TIMELY ---------------------------------------------------------------------------------

TimelyFlow Timely() {
  return TimelyFlow({0.875, 0.8, 50.0 * kUs, 500.0 * kUs, 20.0 * kUs, 1e8, 5, 1e8},
                    100'000'000'000);
}

AckReport RoundTrip(int64_t us) {
  AckReport report = Ack(0, 1000);
  report.roundTrip = us * kUs;
  return report;
}

TEST(Timely, FallsWithTheGradient) {
  TimelyFlow flow = Timely();
  flow.Acknowledge(RoundTrip(100));
  flow.Acknowledge(RoundTrip(110));
  // 0.875 x 10 us of 20 us, times 0.8.
  EXPECT_DOUBLE_EQ(flow.GetRate(), 100e9 * (1 - 0.8 * 0.875 * 10 / 20));
}

TEST(Timely, AboveThighItFallsForAnyGradient) {
  TimelyFlow flow = Timely();
  flow.Acknowledge(RoundTrip(1000));
  EXPECT_DOUBLE_EQ(flow.GetRate(), 100e9 * (1 - 0.8 * 0.5));
}

TEST(Timely, BelowTlowItGrowsAndFiveCalmCompletionsMakeItGrowFaster) {
  TimelyFlow flow = Timely();
  flow.Acknowledge(RoundTrip(1000));
  const double cut = flow.GetRate();
  flow.Acknowledge(RoundTrip(40));
  EXPECT_DOUBLE_EQ(flow.GetRate(), cut + 1e8);
  TimelyFlow calm = Timely();
  calm.Acknowledge(RoundTrip(1000));
  for (int i = 0; i < 4; ++i) calm.Acknowledge(RoundTrip(100));
  const double before = calm.GetRate();
  calm.Acknowledge(RoundTrip(100));
  EXPECT_DOUBLE_EQ(calm.GetRate(), before + 5e8);
}

// ---- DCTCP ----------------------------------------------------------------------------------

TEST(Dctcp, OneWindowOfMarksCutsByHalfOfAlpha) {
  DctcpFlow flow(1.0 / 16, kPath);
  AckReport report = Ack(0, 1000);
  report.acked = 1;
  report.next = 100;
  flow.Acknowledge(report);  // ends the empty first window, unmarked: one more packet
  EXPECT_EQ(flow.GetWindow(), kFull + 1000);
  report.marked = true;
  for (uint64_t psn = 2; psn <= 100; ++psn) {
    report.acked = psn;
    flow.Acknowledge(report);
  }
  EXPECT_DOUBLE_EQ(flow.GetAlpha(), 1.0 / 16);
  EXPECT_EQ(flow.GetWindow(), static_cast<int64_t>((kFull + 1000) * (1 - 1.0 / 32) + 0.5));
}

TEST(Dctcp, TimeOutLeavesOnePacket) {
  DctcpFlow flow(1.0 / 16, kPath);
  flow.TimeOut(0);
  EXPECT_EQ(flow.GetWindow(), 1000);
}

// ---- Swift ----------------------------------------------------------------------------------

SwiftFlow Swift() {
  return SwiftFlow({10.0 * kUs, 1.0 * kUs, 50.0 * kUs, 0.1, 100, 1, 0.8, 0.5, 0.01}, kPath);
}

TEST(Swift, TargetGrowsWithHopsAndForSmallWindows) {
  SwiftFlow flow = Swift();  // window of 100 packets: no addition for its size
  EXPECT_DOUBLE_EQ(flow.GetTarget(), (8.0 + 10 + 3) * kUs);
  for (int i = 1; i < 60; ++i) flow.TimeOut(i * 1000 * kUs);
  EXPECT_DOUBLE_EQ(flow.GetTarget(), (8.0 + 10 + 3 + 50) * kUs);
}

TEST(Swift, CutsByTheRelativeExcessOnceARoundTrip) {
  SwiftFlow flow = Swift();
  AckReport report = RoundTrip(42);
  report.now = 100 * kUs;
  flow.Acknowledge(report);  // 21 us over a target of 21: 0.8 x 0.5
  EXPECT_EQ(flow.GetWindow(), 60'000);
  report.now = 141 * kUs;
  flow.Acknowledge(report);
  EXPECT_EQ(flow.GetWindow(), 60'000) << "41 us later: not again";
  report.now = 142 * kUs;
  flow.Acknowledge(report);
  EXPECT_LT(flow.GetWindow(), 60'000);
}

TEST(Swift, SpacesPacketsIfTheWindowIsBelowOne) {
  SwiftFlow flow = Swift();
  EXPECT_EQ(flow.Send(0, 1000), 0);
  for (int i = 1; i < 60; ++i) flow.TimeOut(i * 1000 * kUs);
  EXPECT_EQ(flow.GetWindow(), 1000) << "a packet may always go";
  EXPECT_EQ(flow.Send(0, 1000), 800 * kUs) << "8 us / 0.01";
}

// ---- All of them on one fabric --------------------------------------------------------------

struct Result {
  int64_t queue;
  int64_t last;
  uint64_t hash;
};

// 8 senders of 8 MB each into one port of 400 Gb/s, in a fabric of two tiers.
Result RunIncast(CongestionControl control, int threads) {
  FabricShape shape;
  shape.transport.congestion_control = control;
  shape.transport.flow_control = FlowControl::kPfc;
  shape.transport.packets_per_ack = 1;
  shape.transport.attributes = {{"RdmaTransport::WindowBdp", "20"}};
  Topology topology = RailFabric(9, 1, 3, 2, shape);
  for (auto& node : topology.fabric.switches) node.buffer = Bytes(64'000'000);
  std::vector<Order> orders;
  for (int i = 1; i <= 8; ++i) orders.push_back(Transfer(i, 0, 8'192'000));
  const Outcome out = RunPackets(topology, orders, threads);
  Result result{out.Counter("max queue bytes"), 0, out.Hash()};
  for (int i = 1; i <= 8; ++i) {
    result.last =
        std::max(result.last, out.TimeOf(Notice::kDelivered, i, static_cast<uint64_t>(i - 1)));
  }
  return result;
}

TEST(Incast, EachAlgorithmChangesItAndNoneDependsOnThreads) {
  const Result none = RunIncast(CongestionControl::kNone, 1);
  std::map<uint64_t, std::string_view> seen = {{none.hash, "none"}};
  for (const auto control :
       {CongestionControl::kDcqcn, CongestionControl::kHpcc, CongestionControl::kTimely,
        CongestionControl::kSwift, CongestionControl::kDctcp}) {
    SCOPED_TRACE(ToString(control));
    const Result result = RunIncast(control, 1);
    EXPECT_TRUE(seen.emplace(result.hash, ToString(control)).second)
        << "the same as " << seen[result.hash];
    EXPECT_LT(result.queue, none.queue);
    EXPECT_LT(result.last, 4 * none.last) << "the port must not starve";
    EXPECT_EQ(result.hash, RunIncast(control, 2).hash);
    EXPECT_EQ(result.hash, RunIncast(control, 3).hash);
  }
}

TEST(Incast, AWindowThatShrinksBelowTheBytesInFlightDoesNotHang) {
  // With few acknowledgements no packet in flight may have requested one when the window is cut;
  // without losses there is no timeout either.
  for (const auto control :
       {CongestionControl::kHpcc, CongestionControl::kSwift, CongestionControl::kDctcp}) {
    for (const int packets_per_ack : {1, 7, 16, 64}) {
      SCOPED_TRACE(ToString(control));
      SCOPED_TRACE(packets_per_ack);
      FabricShape shape;
      shape.transport.congestion_control = control;
      shape.transport.flow_control = FlowControl::kPfc;
      shape.transport.packets_per_ack = packets_per_ack;
      shape.transport.attributes = {{"FabricSwitch::EcnMin", "1000"}};
      if (control == CongestionControl::kDctcp)
        shape.transport.attributes.emplace_back("Dctcp::Gain", "1");
      std::vector<Order> orders;
      for (int i = 1; i <= 8; ++i) orders.push_back(Transfer(i, 0, 4096 * 500));
      const Outcome out = RunPackets(Star(9, shape), orders);
      for (int i = 1; i <= 8; ++i) {
        EXPECT_GE(out.TimeOf(Notice::kSent, i, static_cast<uint64_t>(i - 1)), 0) << i;
      }
    }
  }
}

TEST(Incast, HpccKeepsAShortQueueWhereDcqcnBuildsALongOne) {
  // HPCC paper, figure 9: in an incast the queue is a small part of the queue that DCQCN needs.
  EXPECT_LT(RunIncast(CongestionControl::kHpcc, 1).queue * 2,
            RunIncast(CongestionControl::kDcqcn, 1).queue);
}

TEST(Hpcc, RejectsPathsOfMoreSwitchesThanPacketsCanRecord) {
  FabricShape shape;
  shape.transport.congestion_control = CongestionControl::kHpcc;
  const auto network = MakePacketNetwork(Chain(9, shape), {});
  ASSERT_FALSE(network.ok());
  EXPECT_EQ(network.error().message(),
            "congestion control 'hpcc' works over at most 8 switches in a row; the longest path "
            "of this fabric has 9");
}

}  // namespace
}  // namespace drydock
