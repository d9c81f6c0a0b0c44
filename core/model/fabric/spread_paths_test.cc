#include "core/model/fabric/spread_paths.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace drydock {
namespace {

const Bandwidth kRate = Bandwidth::BitsPerSecond(400'000'000'000);

// Two leaves with `hosts` hosts of one NIC each, joined by `spines` switches at `rate`.
Topology TwoLeaves(int hosts, int spines, Bandwidth rate = kRate) {
  Topology topology;
  topology.host_kinds.resize(1);
  topology.host_kinds[0].nics.count = 1;
  topology.host_kinds[0].nics.rate = kRate;
  topology.hosts.assign(static_cast<size_t>(2 * hosts), 0);
  topology.fabric.switches.resize(static_cast<size_t>(2 + spines));
  for (int host = 0; host < 2 * hosts; ++host) {
    topology.fabric.links.push_back({{false, host, 0}, {true, host / hosts, 0}, kRate, {}});
  }
  for (int spine = 0; spine < spines; ++spine) {
    for (const int leaf : {0, 1}) {
      topology.fabric.links.push_back({{true, leaf, 0}, {true, 2 + spine, 0}, rate, {}});
    }
  }
  return topology;
}

int64_t NarrowCount(const Topology& topology) {
  const std::vector<bool> narrow = NarrowLinks(FabricMap(topology));
  return std::count(narrow.begin(), narrow.end(), true);
}

TEST(SpreadPathsTest, EachSwitchDividesAFlowEqually) {
  const Topology topology = TwoLeaves(2, 4);
  const FabricMap map(topology);
  const auto ends = map.PickAccess(0, 0, 2, 0, 0);
  ASSERT_TRUE(ends);
  int64_t up = 0, down = 0;
  for (const LinkShare& part : SpreadShares(map, *ends, 400)) {
    const FabricDirection& direction = map.direction(part.link);
    const bool between = map.IsSwitch(direction.from_node) && map.IsSwitch(direction.to_node);
    EXPECT_EQ(part.share, between ? 100 : 400);
    if (between) ++(direction.from_node == map.host_count() ? up : down);
  }
  EXPECT_EQ(up, 4);
  EXPECT_EQ(down, 4);
}

TEST(SpreadPathsTest, CablesAreNarrowWhereATierHasLessCapacityAboveThanBelow) {
  EXPECT_EQ(NarrowCount(TwoLeaves(4, 4)), 0);
  EXPECT_EQ(NarrowCount(TwoLeaves(4, 2)), 2 * 2 * 2) << "both directions of each cable";
  const Bandwidth half = Bandwidth::BitsPerSecond(kRate.bits_per_second() / 2);
  EXPECT_EQ(NarrowCount(TwoLeaves(4, 8, half)), 0);
  EXPECT_EQ(NarrowCount(TwoLeaves(4, 7, half)), 2 * 2 * 7);
}

// The slow spine gets as many packets as the others, which have room for these.
TEST(SpreadPathsTest, ASlowCableIsNarrow) {
  Topology topology = TwoLeaves(4, 5);
  EXPECT_EQ(NarrowCount(topology), 0);
  topology.fabric.links.back().rate = Bandwidth::BitsPerSecond(kRate.bits_per_second() / 2);
  EXPECT_EQ(NarrowCount(topology), 2) << "both directions";
}

}  // namespace
}  // namespace drydock
