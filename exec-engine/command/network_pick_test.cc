#include "exec-engine/command/network_pick.h"

#include <gtest/gtest.h>

#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

constexpr int64_t kMega = 1 << 20;

// `calls` all-reduces of 1 MiB over two hosts with one GPU each.
testing::WorkloadBuilder AllReduces(int calls) {
  testing::WorkloadBuilder b(testing::SmallCluster(2, 1));
  const int stream = b.Stream("dp"), role = b.Role("dp", Dimension::kData, {{0, 1}});
  for (int rank = 0; rank < 2; ++rank) {
    for (int i = 0; i < calls; ++i) {
      b.Collective(rank, stream, role, CollectiveType::kAllReduce, kMega);
    }
  }
  b.PlanAll();
  return b;
}

TEST(NetworkPickTest, CountsThePacketsOfEveryMember) {
  // In a ring of two, each member sends the buffer once: 256 packets of 4096 B.
  const testing::WorkloadBuilder once = AllReduces(1), thrice = AllReduces(3);
  EXPECT_EQ(EstimatePackets(once.workload, once.plan), 2 * 256);
  EXPECT_EQ(EstimatePackets(thrice.workload, thrice.plan), 3 * 2 * 256);
}

TEST(NetworkPickTest, ScaleUpLinksCarryNoPackets) {
  testing::WorkloadBuilder b(testing::SmallCluster(1, 2));
  const int stream = b.Stream("tp"), role = b.Role("tp", Dimension::kTensor, {{0, 1}});
  for (int rank = 0; rank < 2; ++rank) {
    b.Collective(rank, stream, role, CollectiveType::kAllReduce, kMega);
  }
  b.PlanAll();
  EXPECT_EQ(EstimatePackets(b.workload, b.plan), 0);
}

TEST(NetworkPickTest, PicksByPacketsUnlessTheRunNeedsThePacketNetwork) {
  testing::WorkloadBuilder few = AllReduces(1), many = AllReduces(40'000);
  const NetworkPick small = PickNetwork(few.workload, few.plan, 1);
  EXPECT_EQ(small.network, "packet");
  EXPECT_EQ(small.why, "512 packets foreseen, at most 20000000");
  const NetworkPick large = PickNetwork(many.workload, many.plan, 1);
  EXPECT_EQ(large.network, "fluid");
  EXPECT_EQ(large.why, "20480000 packets foreseen, more than 20000000");
  EXPECT_EQ(PickNetwork(many.workload, many.plan, 2).network, "packet") << "several processes";
  many.workload.topology.faults = {Fault{Time(), Fault::Kind::kErrors, false, {0}, {}, 1e-12}};
  EXPECT_EQ(PickNetwork(many.workload, many.plan, 1).network, "packet") << "losses";
}

}  // namespace
}  // namespace drydock
