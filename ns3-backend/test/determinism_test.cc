// Is the result the same for any number of threads, and does every message arrive once?
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "ns3-backend/test/fabrics_testing.h"
#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/string.h"

namespace drydock {
namespace {

std::vector<Order> RandomTraffic(const Topology& topology, uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  const int nics = topology.host_kinds[0].nics.count;
  std::vector<Order> orders;
  for (int i = 0; i < count; ++i) {
    const auto from = static_cast<HostId>(below(topology.host_count()));
    const auto step = static_cast<HostId>(1 + below(topology.host_count() - 1));
    const int64_t most = int64_t{1} << below(19);
    Order order = Transfer(from, (from + step) % topology.host_count(), 1 + below(most),
                           Time::Ns(below(2000)), static_cast<uint32_t>(below(3)));
    order.message.source_nic = static_cast<int16_t>(below(nics));
    order.message.destination_nic = static_cast<int16_t>(below(nics));
    orders.push_back(order);
  }
  return orders;
}

FabricShape Shape(uint64_t seed) {
  FabricShape shape;
  shape.switch_latency = Time::Ns(static_cast<int64_t>(seed % 3) * 150);
  shape.nic_latency = Time::Ns(static_cast<int64_t>(seed % 2) * 400);
  shape.transport.mtu = Bytes(seed % 4 == 0 ? 1024 : 4096);
  shape.transport.packets_per_ack = 1 << (seed % 6);
  return shape;
}

// All threads share every window: the choice of the pacer depends on the machine.
Outcome RunShared(const Topology& topology, const std::vector<Order>& orders, int threads) {
  ns3::Config::SetDefault("ns3::rdma::WindowedSimulatorImpl::ShareAlways", ns3::BooleanValue(true));
  Outcome out = RunPackets(topology, orders, threads);
  ns3::Config::Reset();
  return out;
}

TEST(Determinism, SameAnswerForAnyNumberOfThreads) {
  const Topology topology = FatTree(4, Shape(1));
  const std::vector<Order> orders = RandomTraffic(topology, 42, 2000);
  const Outcome once = RunPackets(topology, orders);
  EXPECT_GT(once.Counter("max queue bytes"), 0) << "a scenario without contention proves nothing";
  for (const int threads : {1, 2, 3, 4}) {
    const Outcome again = RunShared(topology, orders, threads);
    EXPECT_EQ(RunPackets(topology, orders, threads).Hash(), once.Hash()) << threads;
    EXPECT_EQ(again.Hash(), once.Hash()) << threads;
    EXPECT_EQ(again.notices, once.notices) << threads;
    EXPECT_EQ(again.counters, once.counters) << threads;
  }
}

// All mechanisms that could depend on the order of threads, at once: pauses, marks and rates, bit
// errors, a spine that fails and is repaired, ports chosen by their queues.
Topology EverythingAtOnce() {
  FabricShape shape = Shape(1);
  shape.transport.flow_control = FlowControl::kPfc;
  shape.transport.congestion_control = CongestionControl::kDcqcn;
  shape.transport.retransmission = Retransmission::kSelectiveRepeat;
  shape.transport.attributes = {{"FabricSwitch::EcnMax", "20000"},
                                {"FabricSwitch::EcnMin", "4000"},
                                {"FaultInjector::RerouteTime", "5 us"},
                                {"RdmaTransport::AckTimeout", "60 us"},
                                {"RdmaTransport::WindowBdp", "10"}};
  Topology topology = RailFabric(12, 2, 4, 3, shape);
  topology.fabric.routing = Routing::kAdaptive;
  for (FabricSwitch& each : topology.fabric.switches) each.buffer = Bytes(700'000);
  Fault dies;
  dies.at = Time::Us(10);
  Fault errors;
  errors.kind = Fault::Kind::kErrors;
  errors.bit_errors = 1e-7;
  for (size_t i = 0; i < topology.fabric.links.size(); ++i) {
    const FabricLink& link = topology.fabric.links[i];
    if (link.a.is_switch && link.b.index % 3 == 0) dies.links.push_back(static_cast<int>(i));
    if (!link.a.is_switch && link.a.index % 4 == 1) errors.links.push_back(static_cast<int>(i));
  }
  Fault lives = dies;
  lives.at = Time::Us(40);
  lives.ends = true;
  topology.faults = {errors, dies, lives};
  return topology;
}

TEST(Determinism, SameAnswerForAnyThreadsAndPartitioningWithAllMechanisms) {
  const Topology topology = EverythingAtOnce();
  std::vector<Order> orders = RandomTraffic(topology, 5, 150);
  for (int i = 1; i < 12; ++i) orders.push_back(Transfer(i, 0, 4096 * 40));  // an incast
  const Outcome once = RunPackets(topology, orders);
  for (const char* counter : {"pause frames", "marked frames", "congestion notifications",
                              "frames lost to faults", "repeated packets", "ack timeouts"}) {
    EXPECT_GT(once.Counter(counter), 0) << counter;
  }
  for (const char* assignment : {"neighbours", "in-turns", "by-layer"}) {
    for (const int threads : {1, 2, 4}) {
      SCOPED_TRACE(assignment);
      SCOPED_TRACE(threads);
      ns3::Config::SetDefault("ns3::rdma::WindowedSimulatorImpl::Assignment",
                              ns3::StringValue(assignment));
      const Outcome again = RunShared(topology, orders, threads);
      EXPECT_EQ(again.notices, once.notices);
      EXPECT_EQ(again.counters, once.counters);
    }
  }
}

TEST(Determinism, MoreThreadsThanNodes) {
  const Topology topology = Star(2, Shape(1));
  const std::vector<Order> orders = RandomTraffic(topology, 7, 50);
  EXPECT_EQ(RunShared(topology, orders, 16).Hash(), RunPackets(topology, orders).Hash());
}

class RandomFabrics : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomFabrics, EveryMessageIsDeliveredAndSentOnce) {
  const uint64_t seed = GetParam();
  const Topology topology = RandomFabric(seed, Shape(seed));
  const std::vector<Order> orders = RandomTraffic(topology, seed, 300);
  const Outcome out = RunPackets(topology, orders);
  std::map<std::tuple<HostId, Notice::Kind, uint64_t>, int> told;
  for (const auto& host : out.notices) {
    Time last;
    for (const Notice& notice : host) {
      EXPECT_GE(notice.time, last) << "time went back";
      last = notice.time;
      ++told[{notice.host, notice.kind, notice.id}];
    }
  }
  for (size_t id = 0; id < orders.size(); ++id) {
    const Message& message = orders[id].message;
    EXPECT_EQ((told[{message.destination, Notice::kDelivered, id}]), 1) << id;
    EXPECT_EQ((told[{message.source, Notice::kSent, id}]), 1) << id;
    // The acknowledgement left when the last byte arrived, one NIC latency before the delivery.
    EXPECT_LT(out.TimeOf(Notice::kDelivered, message.source, id) -
                  topology.host_kinds[0].nics.latency.ps(),
              out.TimeOf(Notice::kSent, message.source, id));
  }
  EXPECT_EQ(out.Counter("messages"), 300);
  EXPECT_EQ(RunShared(topology, orders, 2).Hash(), out.Hash());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFabrics, testing::Range<uint64_t>(1, 31));

}  // namespace
}  // namespace drydock
