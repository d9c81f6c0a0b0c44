// How do connections of several queue pairs send their messages?
#include <gtest/gtest.h>

#include <numeric>

#include "core/model/fabric/connection_shape.h"
#include "ns3-backend/model/host/message-parts.h"
#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/fabrics_testing.h"

namespace drydock {
namespace {

using ns3::rdma::MessageParts;

using Settings = std::vector<std::pair<std::string, std::string>>;

Settings Qps(int count, bool split) {
  return {{"NCCL_IB_QPS_PER_CONNECTION", std::to_string(count)},
          {"NCCL_IB_SPLIT_DATA_ON_QPS", split ? "1" : "0"}};
}

TEST(ConnectionShape, MessagesAreCutAsNcclDoes) {
  using Parts = std::vector<std::pair<int64_t, uint32_t>>;
  const auto split = [](int64_t bytes, uint64_t number, uint32_t queue_pairs, bool all) {
    Parts parts;
    for (const auto& part : SplitMessage(bytes, number, {queue_pairs, all})) {
      parts.emplace_back(part.bytes, part.queue_pair);
    }
    return parts;
  };
  EXPECT_EQ(split(1000, 6, 4, false), (Parts{{1000, 2}}));
  EXPECT_EQ(split(1 << 20, 0, 4, true),
            (Parts{{262144, 0}, {262144, 1}, {262144, 2}, {262144, 3}}));
  // A quarter is 250 B, in whole 128 B: 256; the last part gets the remainder.
  EXPECT_EQ(split(1000, 5, 4, true), (Parts{{256, 1}, {256, 2}, {256, 3}, {232, 0}}));
  EXPECT_EQ(split(130, 0, 4, true), (Parts{{128, 0}, {2, 1}, {1, 2}, {1, 3}}))
      << "nothing is left, but the receiver waits for every queue pair";
}

TEST(MessageParts, AreDoneInTheOrderTheyWereExpected) {
  MessageParts parts;
  Message message;
  std::vector<MessageId> done;
  const auto finish = [&](MessageId id) {
    parts.Finish(7, id, [&](const Message& whole) { done.push_back(whole.id); });
  };
  for (const MessageId id : {10, 11, 12}) {
    message.id = id;
    parts.Expect(7, message, 2);
  }
  for (const MessageId id : {11, 11, 12, 10}) finish(id);
  EXPECT_TRUE(done.empty()) << "the first is not complete";
  finish(10);
  EXPECT_EQ(done, (std::vector<MessageId>{10, 11}));
  EXPECT_FALSE(parts.Idle());
  finish(12);
  EXPECT_TRUE(parts.Idle());
}

// Two hosts of 400 Gb/s on leaves that 16 spines connect over cables of 100 Gb/s.
Outcome Across(const Settings& settings, std::vector<Order> orders, int threads = 1) {
  FabricShape shape;
  Topology topology = RailFabric(2, 1, 1, 16, shape);
  for (FabricLink& link : topology.fabric.links) {
    if (link.a.is_switch && link.b.is_switch) {
      link.rate = Bandwidth::BitsPerSecond(100'000'000'000);
    }
  }
  topology.nccl_settings = settings;
  return RunPackets(topology, std::move(orders), threads);
}

std::vector<Order> Messages(int count, int64_t bytes) {
  std::vector<Order> orders;
  for (int i = 0; i < count; ++i) orders.push_back(Transfer(0, 1, bytes));
  return orders;
}

double Gbps(const Outcome& out, int count, int64_t bytes) {
  const int64_t last = out.TimeOf(Notice::kDelivered, 0, static_cast<uint64_t>(count - 1));
  EXPECT_GT(last, 0);
  return static_cast<double>(count) * static_cast<double>(bytes) * 8000 / static_cast<double>(last);
}

TEST(Connection, SeveralQueuePairsUseSeveralPaths) {
  const int count = 32;
  const int64_t bytes = 1 << 20;
  const std::vector<Order> orders = Messages(count, bytes);
  const Outcome one = Across({}, orders);
  EXPECT_EQ(one.Hash(), Across(Qps(1, true), orders).Hash());
  EXPECT_EQ(one.Counter("queue pairs"), 1);
  EXPECT_NEAR(Gbps(one, count, bytes), 98, 1) << "one path, one cable of 100 Gb/s";
  for (const bool split : {false, true}) {
    const Outcome eight = Across(Qps(8, split), orders);
    EXPECT_EQ(eight.Counter("queue pairs"), 8) << split;
    EXPECT_EQ(eight.Counter("messages"), count) << split;
    EXPECT_GT(Gbps(eight, count, bytes), 250) << split;
    EXPECT_EQ(eight.Hash(), Across(Qps(8, split), orders, 2).Hash()) << split;
  }
}

TEST(Connection, OneMessageIsFasterOnlyIfItIsSplit) {
  const std::vector<Order> orders = Messages(1, 8 << 20);
  const int64_t one = Across({}, orders).TimeOf(Notice::kDelivered, 0, 0);
  EXPECT_EQ(Across(Qps(8, false), orders).TimeOf(Notice::kDelivered, 0, 0), one);
  EXPECT_LT(Across(Qps(8, true), orders).TimeOf(Notice::kDelivered, 0, 0), one / 2);
}

TEST(Connection, MessagesOfAFlowKeepTheirOrder) {
  // A long message, and short messages that overtake it on other queue pairs.
  std::vector<Order> orders = Messages(1, 4 << 20);
  for (int i = 0; i < 20; ++i) orders.push_back(Transfer(0, 1, 100 + i));
  for (const bool split : {false, true}) {
    const Outcome out = Across(Qps(4, split), orders);
    int64_t before = 0, before_sent = 0;
    for (uint64_t id = 0; id < orders.size(); ++id) {
      const int64_t at = out.TimeOf(Notice::kDelivered, 0, id);
      const int64_t sent = out.TimeOf(Notice::kSent, 0, id);
      EXPECT_GE(at, before) << id;
      EXPECT_GE(sent, before_sent) << id;
      before = at;
      before_sent = sent;
    }
  }
}

TEST(Connection, ControlStaysOnTheFirstQueuePair) {
  std::vector<Order> orders = Messages(20, 64);
  for (Order& order : orders) order.message.control = true;
  EXPECT_EQ(Across(Qps(4, true), orders).Counter("queue pairs"), 1);
  EXPECT_EQ(Across(Qps(4, true), orders).Hash(), Across({}, orders).Hash());
}

TEST(Connection, InvalidNcclSettingsAreErrors) {
  const auto message = [](const Settings& settings) {
    Topology topology = TwoHosts({});
    topology.nccl_settings = settings;
    const auto network = MakePacketNetwork(topology, {});
    return network.ok() ? "" : network.error().message();
  };
  EXPECT_EQ(message(Qps(128, true)), "");
  EXPECT_EQ(message({{"NCCL_IB_QPS_PER_CONNECTION", "129"}}),
            "nccl: NCCL_IB_QPS_PER_CONNECTION is '129'; it must be 1 to 128");
  EXPECT_EQ(message({{"NCCL_IB_SPLIT_DATA_ON_QPS", "yes"}}),
            "nccl: NCCL_IB_SPLIT_DATA_ON_QPS is 'yes'; it must be 0 to 1");
}

}  // namespace
}  // namespace drydock
