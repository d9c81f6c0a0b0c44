// Do switches that cut off payloads, instead of dropping packets, spare senders the timeout?
#include <gtest/gtest.h>

#include <algorithm>

#include "ns3-backend/model/host/receive-queue.h"
#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/fabrics_testing.h"

namespace drydock {
namespace {

using ns3::rdma::ReceiveQueue;

constexpr int64_t kFullFrame = (4096 + 82) * 20;  // ps at 400 Gbps
constexpr int64_t kDelay = 500'000;
constexpr int kSenders = 8, kPackets = 200;

// A buffer of 50 frames, with windows larger than any buffer.
Outcome Incast(FlowControl flow_control, Retransmission retransmission,
               std::vector<std::pair<std::string, std::string>> attributes = {}, int threads = 1) {
  FabricShape shape;
  shape.transport.flow_control = flow_control;
  shape.transport.retransmission = retransmission;
  shape.transport.packets_per_ack = 4;
  shape.transport.attributes = std::move(attributes);
  Topology topology = Star(kSenders + 1, shape);
  topology.fabric.switches[0].buffer = Bytes(50 * 4178);
  std::vector<Order> orders;
  for (int i = 1; i <= kSenders; ++i) orders.push_back(Transfer(i, 0, 4096 * kPackets));
  return RunPackets(topology, orders, threads);
}

int64_t LastSent(const Outcome& out) {
  int64_t last = 0;
  for (int i = 1; i <= kSenders; ++i) {
    const int64_t at = out.TimeOf(Notice::kSent, i, static_cast<uint64_t>(i - 1));
    EXPECT_GE(at, 0) << "message of host " << i << " was not acknowledged";
    last = std::max(last, at);
  }
  return last;
}

TEST(Trimming, NoSenderWaitsForATimeout) {
  const int64_t ideal = kFullFrame + 2 * kDelay + kSenders * kPackets * kFullFrame;
  for (const auto retransmission : {Retransmission::kGoBackN, Retransmission::kSelectiveRepeat}) {
    const Outcome dropped = Incast(FlowControl::kNone, retransmission);
    EXPECT_GT(dropped.Counter("dropped frames"), 0);
    const Outcome trimmed = Incast(FlowControl::kTrim, retransmission);
    EXPECT_GT(trimmed.Counter("trimmed frames"), 0) << ToString(retransmission);
    EXPECT_EQ(trimmed.Counter("dropped frames"), 0) << ToString(retransmission);
    EXPECT_EQ(trimmed.Counter("ack timeouts"), 0) << ToString(retransmission);
    EXPECT_LT(LastSent(trimmed), LastSent(dropped)) << ToString(retransmission);
    if (retransmission == Retransmission::kSelectiveRepeat) {
      // Each header requests one packet, once; the port is almost never idle.
      EXPECT_EQ(trimmed.Counter("repeated packets"), trimmed.Counter("trimmed frames"));
      EXPECT_EQ(trimmed.Counter("negative acks"), trimmed.Counter("trimmed frames"));
      EXPECT_LT(LastSent(trimmed), ideal * 11 / 10);
    } else {
      EXPECT_GT(trimmed.Counter("repeated packets"), trimmed.Counter("trimmed frames"))
          << "go-back-n also repeats the packets after a trimmed one";
    }
  }
}

TEST(Trimming, HeadersInALowClassAreLate) {
  const auto repeat = Retransmission::kSelectiveRepeat;
  const Outcome first = Incast(FlowControl::kTrim, repeat);
  const Outcome last = Incast(FlowControl::kTrim, repeat, {{"FabricSwitch::TrimPriority", "0"}});
  EXPECT_NE(LastSent(first), LastSent(last));
  EXPECT_EQ(last.Counter("ack timeouts"), 0);
}

TEST(Trimming, IsTheSameForAnyNumberOfThreads) {
  for (const auto retransmission : {Retransmission::kGoBackN, Retransmission::kSelectiveRepeat}) {
    const uint64_t one = Incast(FlowControl::kTrim, retransmission).Hash();
    EXPECT_EQ(one, Incast(FlowControl::kTrim, retransmission, {}, 2).Hash());
    EXPECT_EQ(one, Incast(FlowControl::kTrim, retransmission, {}, 4).Hash());
  }
}

TEST(Trimming, WorksIfPacketsOvertakeEachOther) {
  FabricShape shape;
  shape.transport.flow_control = FlowControl::kTrim;
  shape.transport.retransmission = Retransmission::kSelectiveRepeat;
  Topology topology = RailFabric(16, 1, 8, 4, shape);
  topology.fabric.routing = Routing::kSpray;
  for (auto& node : topology.fabric.switches) node.buffer = Bytes(60 * 4178);
  std::vector<Order> orders;
  for (int i = 0; i < 8; ++i) orders.push_back(Transfer(i, 8 + i % 3, 4096 * kPackets));
  const Outcome out = RunPackets(topology, orders);
  EXPECT_GT(out.Counter("trimmed frames"), 0);
  EXPECT_EQ(out.Counter("ack timeouts"), 0);
  for (size_t i = 0; i < orders.size(); ++i) {
    EXPECT_GE(out.TimeOf(Notice::kSent, static_cast<HostId>(i), i), 0) << "message " << i;
  }
}

TEST(Trimming, AHeaderThatOvertakesPacketsDoesNotMakeThemMissing) {
  // Packets 0 to 3 wait in a switch while the header of packet 4 overtakes them.
  ReceiveQueue queue;
  Message message;
  message.size = Bytes(6 * 100);
  queue.Announce(message);
  int done = 0;
  const auto take = [&](uint32_t psn) {
    return queue.Take(psn, 100, true, [&](const Message&) { ++done; });
  };
  queue.NoteRequest(4, 1000, true);
  EXPECT_EQ(queue.GetReach(), 0U);
  for (uint32_t psn = 0; psn < 4; ++psn) EXPECT_EQ(take(psn), ReceiveQueue::IN_ORDER);
  EXPECT_EQ(queue.lastNack, 1000) << "packet 4 has not arrived";
  EXPECT_EQ(take(5), ReceiveQueue::EARLY);
  EXPECT_TRUE(queue.WasRequested(0));
  EXPECT_TRUE(queue.IsHere(1));
  EXPECT_EQ(take(4), ReceiveQueue::IN_ORDER);
  EXPECT_EQ(queue.lastNack, -1);
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace drydock
