// When do switches mark, and how often are senders notified?
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "ns3-backend/model/wire/frame.h"
#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/fabrics_testing.h"
#include "ns3/callback.h"
#include "ns3/config.h"

namespace drydock {
namespace {

using ns3::rdma::Frame;

constexpr int64_t kUs = 1'000'000;

using Marked = std::map<uint32_t, std::vector<uint32_t>>;  // packets, by the NIC's link

void SeeMark(Marked* marked, const Frame& frame, uint16_t, int64_t) {
  (*marked)[frame.from].push_back(frame.psn);
}

// Two hosts send 20 packets each at once to a third host; frames beyond a queue of 5 are marked.
std::vector<uint32_t> MarkedPackets(const std::string& at_dequeue) {
  constexpr int kFrame = 4096 + 82;
  FabricShape shape;
  shape.rate =
      Bandwidth::BitsPerSecond(25'000'000'000);  // the rate for which EcnMin and EcnMax are stated
  shape.transport.congestion_control = CongestionControl::kDcqcn;
  shape.transport.attributes = {{"FabricSwitch::EcnMin", std::to_string(5 * kFrame)},
                                {"FabricSwitch::EcnMax", std::to_string(5 * kFrame)},
                                {"FabricSwitch::EcnAtDequeue", at_dequeue},
                                {"RdmaTransport::WindowBdp", "100"}};
  const Topology topology = Star(3, shape);
  auto network = MakePacketNetwork(topology, {});
  Marked marked;
  ns3::Config::ConnectWithoutContext("/NodeList/*/$ns3::rdma::FabricSwitch/Mark",
                                     ns3::MakeBoundCallback(&SeeMark, &marked));
  EXPECT_TRUE(
      RunOrders(topology, network->get(), {Transfer(1, 0, 20 * 4096), Transfer(2, 0, 20 * 4096)})
          .ok());
  EXPECT_EQ(marked.size(), 2U) << "packets of both senders";
  return marked.empty() ? std::vector<uint32_t>() : marked.begin()->second;
}

TEST(Ecn, AtEnqueueTheEndOfABurstIsMarkedAtDequeueItsMiddle) {
  // 40 packets arrive by two ports while 20 leave by one. The queue passes 5 frames with the sixth
  // packet of each sender and is longest with the last.
  const std::vector<uint32_t> in = MarkedPackets("false");
  ASSERT_FALSE(in.empty());
  EXPECT_GE(in.front(), 4U);
  EXPECT_LE(in.front(), 7U);
  EXPECT_EQ(in.back(), 19U);
  // The last frame leaves an empty queue behind; a frame in the middle leaves a long one.
  const std::vector<uint32_t> out = MarkedPackets("true");
  ASSERT_FALSE(out.empty());
  EXPECT_LT(out.front(), in.front());
  EXPECT_LT(out.back(), 19U);
  EXPECT_GE(out.back(), 15U);
}

struct Notice {
  int64_t time;
  uint32_t sender;  // its NIC's link
};

void SeeFrame(std::vector<Notice>* notices, const Frame& frame, int64_t now) {
  if (frame.flags & Frame::CNP) notices->push_back({now, frame.to});
}

std::map<uint32_t, int64_t> LeastGaps(const std::string& interval) {
  FabricShape shape;
  shape.transport.congestion_control = CongestionControl::kDcqcn;
  shape.transport.attributes = {{"FabricSwitch::EcnMax", "1000"},
                                {"FabricSwitch::EcnMin", "1000"},
                                {"RdmaTransport::CnpInterval", interval},
                                {"RdmaTransport::WindowBdp", "100"}};
  const Topology topology = Star(5, shape);
  auto network = MakePacketNetwork(topology, {});
  std::vector<Notice> notices;
  ns3::Config::ConnectWithoutContext("/NodeList/0/DeviceList/0/$ns3::rdma::FabricPort/Transmit",
                                     ns3::MakeBoundCallback(&SeeFrame, &notices));
  std::vector<Order> orders;
  for (int i = 1; i < 5; ++i) orders.push_back(Transfer(i, 0, 4096 * 2000));
  EXPECT_TRUE(RunOrders(topology, network->get(), orders).ok());
  std::map<uint32_t, int64_t> last, gaps;
  for (const Notice& notice : notices) {
    if (last.count(notice.sender) == 1) {
      const int64_t gap = notice.time - last[notice.sender];
      gaps[notice.sender] = std::min(gaps.try_emplace(notice.sender, gap).first->second, gap);
    }
    last[notice.sender] = notice.time;
  }
  return gaps;
}

TEST(Cnp, AReceiverNotifiesEachQueuePairAtMostOncePerInterval) {
  constexpr int64_t kSlack = kUs / 2;  // a notification may wait for the frame that is being sent
  for (const int64_t us : {5, 50}) {
    const auto gaps = LeastGaps(std::to_string(us) + " us");
    EXPECT_EQ(gaps.size(), 4U) << "every sender is notified more than once";
    for (const auto& [sender, gap] : gaps) {
      EXPECT_GE(gap, us * kUs - kSlack);
      EXPECT_LE(gap, 2 * us * kUs) << "as soon as the interval allows";
    }
  }
}

}  // namespace
}  // namespace drydock
