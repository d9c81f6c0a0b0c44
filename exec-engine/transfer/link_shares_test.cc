#include "exec-engine/transfer/link_shares.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

constexpr int64_t kBytes = 1 << 20;

// Four GPUs at 100 GB/s, and a plan to which tests add connections, each with a separate program.
class LinkSharesTest : public ::testing::Test {
 protected:
  LinkSharesTest()
      : topology_(testing::SmallCluster(1, 4)), ports_(topology_.host_kinds[0], topology_.gpus[0]) {
    plan_.members.resize(4);
    plan_.works.resize(2);
  }

  // Adds a program of `slices` slices, `sent` of which cross from GPU to GPU.
  void Add(int from, int to, LinkKind link, uint32_t sent, int64_t slices) {
    const auto runner = static_cast<uint32_t>(plan_.runners.size());
    plan_.runners.emplace_back().slices = slices;
    LocalConnection c;
    c.link = link;
    c.path = ports_.ScaleUpPath(from, to, -1);
    c.sender = c.receiver = runner;
    c.sent = c.received = sent;
    plan_.connections.push_back(c);
  }

  // Returns the time of a slice of the first connection over its time alone.
  double Share(double several_peers = 1) {
    for (LocalConnection& c : plan_.connections) c.crossing = {};
    ShareLinks(ports_, several_peers, &plan_);
    return plan_.connections[0].crossing.For(kBytes).seconds() /
           ports_.cost(ports_.ScaleUpOut(0)).For(kBytes).seconds();
  }

  Topology topology_;
  PortMap ports_;
  LocalPlan plan_;
};

TEST_F(LinkSharesTest, OneProgramHasTheLinkForItself) {
  Add(0, 1, LinkKind::kPeerWrite, 2, 10);
  EXPECT_NEAR(Share(), 1, 1e-4);
}

TEST_F(LinkSharesTest, ChannelsOfARingShareEveryLink) {
  for (int channel = 0; channel < 8; ++channel) {
    for (int gpu = 0; gpu < 4; ++gpu) Add(gpu, (gpu + 1) % 4, LinkKind::kPeerWrite, 3, 4);
  }
  EXPECT_NEAR(Share(), 8 * 3.0 / 4, 1e-4) << "three of four slices cross";
  EXPECT_NEAR(Share(0.5), 8 * 3.0 / 4, 1e-4) << "each GPU receives from one other GPU";
}

TEST_F(LinkSharesTest, TheBusierOfTwoPortsDecides) {
  Add(0, 3, LinkKind::kPeerRead, 1, 1);
  Add(1, 3, LinkKind::kPeerRead, 1, 1);
  Add(2, 3, LinkKind::kPeerRead, 1, 1);
  EXPECT_NEAR(Share(), 3, 1e-4);
  EXPECT_NEAR(Share(0.8), 3 / 0.8, 1e-4) << "several GPUs send to one GPU";
}

// Two heads, each of which reduces the contributions of all four members and stores the sum to all.
TEST_F(LinkSharesTest, SwitchReductionTakesEveryMembersLink) {
  for (int head = 0; head < 2; ++head) {
    for (int member = 0; member < 4; ++member) {
      Add(member, head, LinkKind::kNvls, 6, 6);
      plan_.connections.back().contribution = true;
      Add(head, member, LinkKind::kNvls, 6, 6);
    }
  }
  EXPECT_NEAR(Share(), 3, 1e-4) << "a head sends its share of two sums, and one store";
}

TEST_F(LinkSharesTest, WorksFollowOneAnother) {
  Add(0, 1, LinkKind::kPeerWrite, 4, 4);
  Add(0, 1, LinkKind::kPeerWrite, 4, 4);
  EXPECT_NEAR(Share(), 2, 1e-4);
  plan_.connections[1].work = 1;
  EXPECT_NEAR(Share(), 1, 1e-4);
}

TEST_F(LinkSharesTest, LatencyBoundWorksShareNothing) {
  Add(0, 1, LinkKind::kPeerWrite, 4, 4);
  plan_.works[0].pass_bytes = 256;
  EXPECT_EQ(Share(), 0);
}

TEST_F(LinkSharesTest, StagingInHostMemoryIsNoLink) {
  Add(0, 1, LinkKind::kNet, 4, 4);
  plan_.connections[0].remote_host = 1;
  EXPECT_EQ(Share(), 0);
}

}  // namespace
}  // namespace drydock
