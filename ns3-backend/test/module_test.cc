// Is it an ns-3 module: nodes, devices, attributes, trace sources, events of Simulator::Schedule?
#include <gtest/gtest.h>

#include <thread>

#include "ns3-backend/model/simulator/windowed-simulator-impl.h"
#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/fabrics_testing.h"
#include "ns3/channel-list.h"
#include "ns3/channel.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/net-device.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

namespace drydock {
namespace {

using ns3::PicoSeconds;
using ns3::Simulator;
using ns3::rdma::Frame;
using ns3::rdma::Partition;
using ns3::rdma::WindowedSimulatorImpl;

constexpr int64_t kFullFrame = (4096 + 82) * 20;

// Two hosts on a cable, the first sending. Calls `between` after making the network and before the
// run.
template <typename Between>
Outcome RunPair(int64_t bytes, Between between) {
  const Topology topology = TwoHosts(FabricShape());
  auto network = MakePacketNetwork(topology, {});
  between();
  Outcome outcome;
  EXPECT_TRUE(RunOrders(topology, network->get(), {Transfer(0, 1, bytes)}, &outcome.notices).ok());
  outcome.counters = network.value()->Counters();
  return outcome;
}

TEST(Module, TransmitTraceShowsEveryFrame) {
  std::vector<std::pair<int64_t, int64_t>> data;
  int acks = 0;
  RunPair(3 * 4096, [&] {
    const auto sink = [&](const Frame& frame, int64_t now) {
      if (frame.IsAck()) ++acks;
      if (!frame.IsAck()) data.push_back({now, frame.time});
    };
    ns3::Config::ConnectWithoutContext("/NodeList/*/DeviceList/0/$ns3::rdma::FabricPort/Transmit",
                                       ns3::Callback<void, const Frame&, int64_t>(sink));
  });
  EXPECT_EQ(acks, 1);
  ASSERT_EQ(data.size(), 3u);
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(data[static_cast<size_t>(i)].first, i * kFullFrame);
    EXPECT_EQ(data[static_cast<size_t>(i)].second, (i + 1) * kFullFrame + 500'000);
  }
}

TEST(Module, WindowAttributeLimitsTheBytesInFlight) {
  // No bandwidth-delay product and one packet for coalescing: stop and wait.
  ns3::Config::SetDefault("ns3::rdma::RdmaTransport::WindowBdp", ns3::DoubleValue(0));
  Topology topology = TwoHosts(FabricShape());
  topology.transport.packets_per_ack = 1;
  const Outcome out = RunPackets(topology, {Transfer(0, 1, 5 * 4096)});
  ns3::Config::Reset();
  const int64_t round = kFullFrame + 84 * 20 + 2 * 500'000;
  EXPECT_EQ(out.TimeOf(Notice::kSent, 0, 0), 5 * round);
}

TEST(Module, NodesDevicesAndChannelsAreListed) {
  const auto network = MakePacketNetwork(RailFabric(4, 2, 2, 3, FabricShape()), {});
  ASSERT_TRUE(network.ok());
  EXPECT_EQ(ns3::NodeList::GetNNodes(), 4u + 3 + 4);
  EXPECT_EQ(ns3::ChannelList::GetNChannels(), 4u * 2 + 4 * 3);
  const ns3::Ptr<ns3::Node> host = ns3::NodeList::GetNode(1);
  ASSERT_EQ(host->GetNDevices(), 2u);
  const ns3::Ptr<ns3::Channel> cable = host->GetDevice(1)->GetChannel();
  EXPECT_EQ(cable->GetDevice(0)->GetNode(), host);
  ns3::DataRateValue rate;
  cable->GetAttribute("DataRate", rate);
  EXPECT_EQ(rate.Get().GetBitRate(), 400'000'000'000u);
  EXPECT_NE(host->GetDevice(0)->GetAddress(), host->GetDevice(1)->GetAddress());
}

TEST(Module, FramesOverTheBufferAreCounted) {
  Topology topology = Star(9, FabricShape());
  std::vector<Order> orders;
  for (int host = 1; host < 9; ++host) orders.push_back(Transfer(host, 0, 40 * 4096));
  EXPECT_EQ(RunPackets(topology, orders).Counter("frames over buffer"), 0);
  topology.fabric.switches[0].buffer = Bytes(100 * 1000);
  const Outcome small = RunPackets(topology, orders);
  EXPECT_GT(small.Counter("frames over buffer"), 0);
  EXPECT_GT(small.Counter("max buffer bytes"), 100 * 1000);
  EXPECT_GE(small.Counter("max buffer bytes"), small.Counter("max queue bytes"));
}

// A partition with an event every `step` that records the times.
class Ticker : public Partition {
 public:
  Ticker(int64_t step, int64_t end) : step_(step), end_(end) {}
  void Start() override {}
  uint64_t Process(int64_t limit) override {
    const size_t before = seen.size();
    while (NextTime() < limit) {
      now_ = NextTime();
      next_ += step_;
      seen.push_back(Simulator::Now().GetPicoSeconds());
    }
    return seen.size() - before;
  }
  int64_t NextTime() const override { return next_ > end_ ? ns3::rdma::NEVER : next_; }
  int64_t LocalTime() const override { return now_; }
  uint32_t GetWeight() const override { return 1; }
  std::vector<int64_t> seen;

 private:
  int64_t step_, end_, next_ = 0, now_ = 0;
};

class SimulatorTest : public testing::TestWithParam<uint64_t> {
 protected:
  SimulatorTest() {
    if (ns3::Time::GetResolution() != ns3::Time::PS) ns3::Time::SetResolution(ns3::Time::PS);
    simulator_ = ns3::CreateObject<WindowedSimulatorImpl>();
    simulator_->SetAttribute("Threads", ns3::UintegerValue(GetParam()));
    simulator_->SetAttribute("Lookahead", ns3::TimeValue(PicoSeconds(100)));
    Simulator::SetImplementation(simulator_);
  }
  ~SimulatorTest() override { Simulator::Destroy(); }
  ns3::Ptr<WindowedSimulatorImpl> simulator_;
};

TEST_P(SimulatorTest, ControlEventsRunBeforeThePartitionsOfTheirTime) {
  Ticker a(10, 1000), b(30, 1000);
  simulator_->AddPartition(&a, 0);
  simulator_->AddPartition(&b, 0);
  std::vector<std::pair<int64_t, size_t>> seen;
  const auto sample = [&] { seen.push_back({Simulator::Now().GetPicoSeconds(), a.seen.size()}); };
  Simulator::Schedule(PicoSeconds(250), [&] {
    sample();
    Simulator::Schedule(PicoSeconds(50), sample);
    Simulator::ScheduleNow(sample);
  });
  Simulator::Schedule(PicoSeconds(5000), sample);
  Simulator::Run();
  // a ticks at 0, 10, ... 240 before 250: 25 times.
  EXPECT_EQ(seen, (std::vector<std::pair<int64_t, size_t>>{
                      {250, 25}, {250, 25}, {300, 30}, {5000, 101}}));
  ASSERT_EQ(b.seen.size(), 34u);
  EXPECT_EQ(b.seen.back(), 990);
}

TEST_P(SimulatorTest, CancelRemoveAndStop) {
  Ticker ticker(10, 1'000'000);
  simulator_->AddPartition(&ticker, 0);
  int ran = 0, destroyed = 0;
  const auto count = [&] { ++ran; };
  ns3::EventId cancelled = Simulator::Schedule(PicoSeconds(10), count);
  ns3::EventId removed = Simulator::Schedule(PicoSeconds(20), count);
  const ns3::EventId kept = Simulator::Schedule(PicoSeconds(30), count);
  Simulator::ScheduleDestroy([&] { ++destroyed; });
  EXPECT_EQ(Simulator::GetDelayLeft(kept), PicoSeconds(30));
  Simulator::Cancel(cancelled);
  Simulator::Remove(removed);
  EXPECT_TRUE(removed.IsExpired());
  EXPECT_TRUE(cancelled.IsExpired());
  EXPECT_FALSE(kept.IsExpired());
  Simulator::Stop(PicoSeconds(500));
  Simulator::Run();
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(kept.IsExpired());
  EXPECT_EQ(ticker.seen.size(), 50u) << "nothing runs from the time of Stop on";
  EXPECT_EQ(destroyed, 0);
  Simulator::Destroy();
  EXPECT_EQ(destroyed, 1);
}

INSTANTIATE_TEST_SUITE_P(Threads, SimulatorTest, testing::Values(1, 2));

}  // namespace
}  // namespace drydock
