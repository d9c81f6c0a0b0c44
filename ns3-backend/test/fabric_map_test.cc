// Are paths shortest, are they chosen evenly, and are unreachable NICs known?
#include <gtest/gtest.h>

#include <map>

#include "ns3-backend/model/wire/fabric-map.h"
#include "ns3-backend/test/fabrics_testing.h"

namespace drydock {
namespace {

using ns3::rdma::FabricMap;

// Counts the switches on the path of a frame by following the ports.
std::vector<uint32_t> Walk(const FabricMap& map, FabricMap::AccessPair ends, uint32_t path) {
  std::vector<uint32_t> passed;
  for (uint32_t link = ends.first; link != ends.second && passed.size() < 20;) {
    const uint32_t at = map.direction(link).to_node - map.host_count();
    passed.push_back(at);
    link = map.ports_of(map.host_count() + at)[map.NextPort(at, ends.second, path)];
  }
  return passed;
}

TEST(FabricMap, FatTreePathsAreShortestAndEvenlyChosen) {
  const FabricMap map(FatTree(8, FabricShape()));
  EXPECT_EQ(map.host_count(), 128u);
  EXPECT_EQ(map.switch_count(), 80u);
  std::map<uint32_t, int> through_core;
  for (uint32_t path = 0; path < 1600; ++path) {
    const auto ends = map.PickAccess(0, 0, 127, 0, path);
    ASSERT_TRUE(ends.has_value());
    const std::vector<uint32_t> passed = Walk(map, *ends, path);
    ASSERT_EQ(passed.size(), 5u) << "edge, aggregation, core, aggregation, edge";
    ++through_core[passed[2]];
  }
  // 100 each if perfectly even; six standard deviations are 60.
  EXPECT_EQ(through_core.size(), 16u);
  for (const auto& [core, flows] : through_core) EXPECT_NEAR(flows, 100, 60) << core;
  EXPECT_EQ(Walk(map, *map.PickAccess(0, 0, 3, 0, 1), 1).size(), 1u) << "same edge switch";
  EXPECT_EQ(Walk(map, *map.PickAccess(0, 0, 15, 0, 1), 1).size(), 3u) << "same pod";
}

TEST(FabricMap, SeedChangesTheChoice) {
  FabricMap map(RailFabric(2, 1, 1, 16, FabricShape()));
  int moved = 0;
  for (uint32_t path = 0; path < 100; ++path) {
    const auto ends = *map.PickAccess(0, 0, 1, 0, path);
    const auto before = Walk(map, ends, path);
    FabricMap other = map;
    other.SetSeed(before[0], 12345);
    moved += Walk(other, ends, path) != before ? 1 : 0;
  }
  EXPECT_GT(moved, 70);
}

TEST(FabricMap, NicWithTwoCablesUsesBothPlanesAndNeverCrosses) {
  // Every NIC has a cable to each of two switches that are not connected to each other.
  Topology topology = Hosts(2, 1, FabricShape());
  for (int plane = 0; plane < 2; ++plane) {
    const LinkEnd hub = AddSwitch(topology, 0, FabricShape());
    for (int host = 0; host < 2; ++host) Cable(topology, NicOf(host, 0), hub, FabricShape());
  }
  const FabricMap map(topology);
  std::map<uint32_t, int> through;
  for (uint32_t path = 0; path < 200; ++path) {
    const auto passed = Walk(map, *map.PickAccess(0, 0, 1, 0, path), path);
    ASSERT_EQ(passed.size(), 1u);
    ++through[passed[0]];
  }
  EXPECT_NEAR(through[0], 100, 40);
  EXPECT_NEAR(through[1], 100, 40);
}

TEST(FabricMap, UnconnectedRailsAreUnreachable) {
  const FabricMap map(RailFabric(4, 2, 4, 0, FabricShape()));
  EXPECT_TRUE(map.PickAccess(0, 1, 3, 1, 9).has_value());
  EXPECT_FALSE(map.PickAccess(0, 0, 3, 1, 9).has_value());
  EXPECT_FALSE(map.PickAccess(0, 0, 3, 7, 9).has_value()) << "no such NIC";
}

TEST(FabricMap, MeasuredTimeAndLookahead) {
  FabricShape shape;
  shape.switch_latency = Time::Ns(300);
  Topology topology = Chain(2, shape);
  topology.fabric.links[1].rate = Bandwidth::BitsPerSecond(100'000'000'000);
  topology.fabric.links[2].delay = Time::Ns(20);
  const FabricMap map(topology);
  const auto measured = map.MeasurePath(*map.PickAccess(0, 0, 1, 0, 0), 0, 1000);
  EXPECT_EQ(measured.slowest, 80'000);
  EXPECT_EQ(measured.time,
            20'000 + 500'000 + 300'000 + 80'000 + 500'000 + 300'000 + 20'000 + 20'000);
  // The last cable, toward the host, where no switch latency is added.
  EXPECT_EQ(map.Lookahead(84), 84 * 20 + 20'000);
}

TEST(FabricMap, NicSlowerThanItsCableSetsTheRate) {
  Topology topology = Star(2, FabricShape());
  topology.host_kinds[0].nics.rate = Bandwidth::BitsPerSecond(200'000'000'000);
  const FabricMap map(topology);
  EXPECT_EQ(map.direction(0).Occupancy(1000), 40'000);
  EXPECT_EQ(map.direction(1).Occupancy(1000), 40'000);
}

}  // namespace
}  // namespace drydock
