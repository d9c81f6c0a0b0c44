// Which frame is next: of the classes of a port by weight, of the queue pairs of a NIC in turns?
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "ns3-backend/model/fabric/class-scheduler.h"
#include "ns3-backend/test/fabrics_testing.h"

namespace drydock {
namespace {

using ns3::rdma::ClassBit;
using ns3::rdma::CLASSES;
using ns3::rdma::ClassScheduler;
using ns3::rdma::ClassWeights;

// Returns the bytes that each class sends in `frames` turns of a port. The classes of `ready`
// always have frames to send, of sizes[c] bytes.
std::array<int64_t, CLASSES> Serve(ClassScheduler& scheduler, uint8_t ready,
                                   const std::array<int64_t, CLASSES>& sizes, int frames) {
  std::array<int64_t, CLASSES> sent{};
  for (int i = 0; i < frames; ++i) {
    const uint8_t priority = scheduler.Pick(0, ready);
    EXPECT_TRUE(ready & ClassBit(priority));
    scheduler.Charge(0, priority, sizes[priority]);
    sent[priority] += sizes[priority];
  }
  return sent;
}

TEST(ClassScheduler, StrictClassesGoByNumber) {
  ClassScheduler scheduler;
  scheduler.Configure({}, 1, 1000);
  EXPECT_FALSE(scheduler.HasWeights());
  EXPECT_EQ(scheduler.Pick(0, 0b00101001), 5);
  EXPECT_EQ(scheduler.Pick(0, 0b00001001), 3);
  EXPECT_EQ(scheduler.Pick(0, 0b00000001), 0);
}

TEST(ClassScheduler, WeightedClassesShareBytesForAnyFrameSize) {
  ClassScheduler scheduler;
  ClassWeights weights{};
  weights[1] = 1;
  weights[3] = 3;
  weights[6] = 4;
  scheduler.Configure(weights, 1, 1500);
  const auto sent = Serve(scheduler, 0b01001010, {0, 64, 0, 1500, 0, 0, 333, 0}, 200'000);
  const double all = static_cast<double>(sent[1] + sent[3] + sent[6]);
  EXPECT_NEAR(static_cast<double>(sent[1]) / all, 1.0 / 8, 0.001);
  EXPECT_NEAR(static_cast<double>(sent[3]) / all, 3.0 / 8, 0.001);
  EXPECT_NEAR(static_cast<double>(sent[6]) / all, 4.0 / 8, 0.001);
}

TEST(ClassScheduler, StrictClassesComeFirstAndIdleClassesSaveNoCredit) {
  ClassScheduler scheduler;
  ClassWeights weights{};
  weights[1] = weights[3] = 1;
  scheduler.Configure(weights, 1, 1500);
  const std::array<int64_t, CLASSES> sizes{0, 1500, 0, 1500, 0, 1500, 0, 0};
  const auto strict = Serve(scheduler, 0b00101010, sizes, 100);
  EXPECT_EQ(strict[5], 100 * 1500) << "class 5 has no weight, so it is strict";
  const auto alone = Serve(scheduler, 0b00001000, sizes, 1000);
  EXPECT_EQ(alone[3], 1000 * 1500) << "class 3 gets all turns";
  const auto both = Serve(scheduler, 0b00001010, sizes, 10);
  EXPECT_EQ(both[1], both[3]) << "class 1 has saved no credit, class 3 has no debt";
}

// Hosts 1 and 2 fill the link to host 0, which sends to host 3. The acknowledgements to host 0 come
// over the full link, in their own class.
int64_t EndOfTheReverseFlow(std::vector<std::pair<std::string, std::string>> attributes) {
  FabricShape shape;
  shape.transport.packets_per_ack = 1;
  shape.transport.attributes = std::move(attributes);
  shape.transport.attributes.emplace_back("RdmaTransport::AckPriority", "1");
  const Outcome out = RunPackets(
      Star(4, shape),
      {Transfer(1, 0, 4096 * 2000), Transfer(2, 0, 4096 * 2000), Transfer(0, 3, 4096 * 1000)});
  EXPECT_GE(out.TimeOf(Notice::kSent, 1, 0), 0);
  return out.TimeOf(Notice::kSent, 0, 2);
}

TEST(Weights, KeepALowClassOfASwitchFromStarving) {
  const int64_t strict = EndOfTheReverseFlow({});
  const int64_t weighted =
      EndOfTheReverseFlow({{"FabricNode::Weight1", "1"}, {"FabricNode::Weight3", "9"}});
  // 1000 packets fill their own link for 84 us. A class strictly below the data waits until the
  // 4000 packets of the other hosts have passed, 334 us.
  EXPECT_GT(strict, 334'000'000);
  EXPECT_LT(weighted, 100'000'000);
}

TEST(Weights, LetTheDataOfAHostDelayItsAcknowledgements) {
  // Host 0 sends all the time and receives a packet from host 1. The acknowledgement goes before
  // data; with weights it waits for the turn of the data, 50 packets.
  constexpr int64_t kPacket = 4178 * 20;  // ps at 400 Gbps
  const auto acknowledged = [](std::vector<std::pair<std::string, std::string>> attributes) {
    FabricShape shape;
    shape.transport.attributes = std::move(attributes);
    shape.transport.attributes.emplace_back("RdmaTransport::AckPriority", "1");
    shape.transport.attributes.emplace_back("RdmaTransport::WindowBdp", "100");
    const Outcome out = RunPackets(
        TwoHosts(shape), {Transfer(0, 1, 4096 * 2000), Transfer(1, 0, 4096, Time::Us(50))});
    return out.TimeOf(Notice::kSent, 1, 1);
  };
  const int64_t first = acknowledged({});
  const int64_t last = acknowledged({{"FabricNode::Weight1", "1"}, {"FabricNode::Weight3", "50"}});
  EXPECT_LE(first, 50'000'000 + 2 * 500'000 + 2 * kPacket + 84 * 20);
  EXPECT_GT(last, first + 10 * kPacket);
  EXPECT_LE(last, first + 50 * kPacket);
}

// Two queue pairs of one NIC, one with full packets, one with messages of 500 B, both always busy.
// Returns the share of the small messages in all bytes that arrived when the large message ends.
double ShareOfSmall(std::vector<std::pair<std::string, std::string>> attributes) {
  FabricShape shape;
  shape.transport.packets_per_ack = 1;
  shape.transport.attributes = std::move(attributes);
  shape.transport.attributes.emplace_back("RdmaTransport::WindowBdp", "20");
  constexpr int64_t kLarge = 1000 * 4096;
  std::vector<Order> orders = {Transfer(0, 1, kLarge)};
  for (int i = 0; i < 12'000; ++i) orders.push_back(Transfer(0, 1, 500, Time(), 1));
  const Outcome out = RunPackets(TwoHosts(shape), orders);
  const int64_t end = out.TimeOf(Notice::kDelivered, 0, 0);
  int64_t small = 0;
  for (const Notice& notice : out.notices[1]) {
    if (notice.kind == Notice::kDelivered && notice.id > 0 && notice.time.ps() <= end) small += 582;
  }
  return static_cast<double>(small) / static_cast<double>(small + 1000 * 4178);
}

TEST(Turns, GoByPacketsOrByBytes) {
  EXPECT_NEAR(ShareOfSmall({}), 582.0 / (582 + 4178), 0.01);
  EXPECT_NEAR(ShareOfSmall({{"RdmaTransport::TurnBytes", "4178"}}), 0.5, 0.01);
  EXPECT_NEAR(ShareOfSmall({{"RdmaTransport::TurnBytes", "1"}}), 0.5, 0.01)
      << "a turn is at least a full packet";
}

TEST(Turns, WithWeightsAreTheSameForAnyNumberOfThreads) {
  FabricShape shape;
  shape.transport.packets_per_ack = 1;
  shape.transport.attributes = {{"FabricNode::Weight1", "1"},
                                {"FabricNode::Weight3", "9"},
                                {"RdmaTransport::AckPriority", "1"},
                                {"RdmaTransport::TurnBytes", "10000"}};
  std::vector<Order> orders;
  for (int i = 0; i < 64; ++i) {
    orders.push_back(Transfer(i % 8, (i * 5 + 1) % 8 == i % 8 ? (i + 1) % 8 : (i * 5 + 1) % 8,
                              700 * (i + 1), Time::Ns(i * 37), static_cast<uint32_t>(i)));
  }
  const Topology topology = RailFabric(8, 1, 2, 2, shape);
  const uint64_t one = RunPackets(topology, orders).Hash();
  shape.transport.attributes.clear();
  EXPECT_NE(one, RunPackets(RailFabric(8, 1, 2, 2, shape), orders).Hash())
      << "turns and weights change the run";
  for (const int threads : {2, 4}) EXPECT_EQ(one, RunPackets(topology, orders, threads).Hash());
}

TEST(Turns, CountedInBytesCostNoTime) {
  // A single queue pair sends as without turns in bytes.
  FabricShape shape;
  const std::vector<Order> orders = {Transfer(0, 1, 4096 * 300 + 17)};
  const Outcome packets = RunPackets(TwoHosts(shape), orders);
  shape.transport.attributes = {{"RdmaTransport::TurnBytes", "65536"}};
  EXPECT_EQ(packets.Hash(), RunPackets(TwoHosts(shape), orders).Hash());
}

}  // namespace
}  // namespace drydock
