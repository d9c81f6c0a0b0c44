#include "core/model/fabric/placement_pattern.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

// Hosts 0 and 2 of one kind with 2 GPUs, host 1 of another with 3.
Topology TwoKinds() {
  Topology topology;
  topology.host_kinds.resize(2);
  topology.host_kinds[0].gpus = 2;
  topology.host_kinds[1].gpus = 3;
  topology.hosts = {0, 1, 0};
  return topology;
}

PlacementPattern Of(const std::vector<int>& ranks) {
  const Topology topology = TwoKinds();
  return PlacementPatternOf(ranks, topology, Placement(topology));
}

TEST(PlacementPatternTest, HostsCountByFirstAppearance) {
  EXPECT_EQ(Of({6, 3, 5}), (PlacementPattern{{0, 0, 1}, {1, 1, 1}, {0, 0, 0}}));
}

TEST(PlacementPatternTest, EqualKindsOfHostsGiveEqualPatterns) {
  EXPECT_EQ(Of({0, 1}), Of({5, 6}));
  EXPECT_NE(Of({0, 1}), Of({1, 0}));  // the order of ranks
  EXPECT_NE(Of({0, 1}), Of({2, 3}));  // the kind of host
  EXPECT_NE(Of({0, 1}), Of({0, 6}));  // the number of hosts
}

TEST(PlacementPatternTest, SlotsHoldHostAndGpuOfEachRank) {
  const Topology topology = TwoKinds();
  const auto slots = SlotsOf({4, 0}, Placement(topology));
  ASSERT_EQ(slots.size(), 2u);
  EXPECT_EQ(slots[0].host, 1);
  EXPECT_EQ(slots[0].gpu, 2);
  EXPECT_EQ(slots[1].host, 0);
}

}  // namespace
}  // namespace drydock
