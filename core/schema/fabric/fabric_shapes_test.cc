// Fabrics of three tiers, several planes, fat-trees, dragonflies and tori.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <queue>
#include <random>
#include <set>

#include "core/schema/cluster/fabric_file.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;

Result<Topology> Make(int hosts, int nics, const std::string& fabric) {
  Topology topology;
  HostKind kind;
  kind.gpus = 8;
  kind.nics.count = nics;
  kind.nics.rate = Bandwidth::BitsPerSecond(400'000'000'000);
  topology.host_kinds = {kind};
  topology.hosts.assign(static_cast<size_t>(hosts), 0);
  ASSIGN_OR_RETURN(const YamlNode node, ParseYaml(fabric, "f"));
  Diagnostics diagnostics;
  ReadFabric(node, {}, &topology, &diagnostics);
  RETURN_IF_ERROR(diagnostics.ToStatus());
  RETURN_IF_ERROR(CheckConnected(topology));
  return topology;
}

std::string Layer(int ports, const std::string& more = "") {
  return fmt::format("{{ports: {}, rate: 400 Gbps, cable: 10 m, latency: 300 ns, buffer: 1 MB{}}}",
                     ports, more);
}

std::string Message(int hosts, int nics, const std::string& fabric) {
  const std::string text = ErrorText(Make(hosts, nics, fabric));
  const size_t at = text.find("error: ");
  return at == std::string::npos ? text : text.substr(at, text.find('\n') - at);
}

struct Cabling {
  std::vector<int> cables;               // of each switch
  std::vector<std::set<int>> neighbors;  // among the switches
  std::map<std::pair<int, int>, int> nic_cables;
};

Cabling CablingOf(const Topology& topology) {
  Cabling cabling;
  cabling.cables.resize(topology.fabric.switches.size());
  cabling.neighbors.resize(topology.fabric.switches.size());
  for (const FabricLink& link : topology.fabric.links) {
    for (const auto& [here, there] : {std::pair(link.a, link.b), std::pair(link.b, link.a)}) {
      if (!here.is_switch) {
        ++cabling.nic_cables[{here.index, here.nic}];
        continue;
      }
      ++cabling.cables[static_cast<size_t>(here.index)];
      if (there.is_switch) cabling.neighbors[static_cast<size_t>(here.index)].insert(there.index);
    }
  }
  return cabling;
}

// Returns the distance from a switch to the farthest reachable one, and how many are reachable.
std::pair<int, int> Depth(const Cabling& cabling, int from) {
  std::vector<int> steps(cabling.neighbors.size(), -1);
  std::queue<int> at({from});
  steps[static_cast<size_t>(from)] = 0;
  int reached = 0, depth = 0;
  for (; !at.empty(); at.pop(), ++reached) {
    depth = steps[static_cast<size_t>(at.front())];
    for (const int next : cabling.neighbors[static_cast<size_t>(at.front())]) {
      if (steps[static_cast<size_t>(next)] >= 0) continue;
      steps[static_cast<size_t>(next)] = depth + 1;
      at.push(next);
    }
  }
  return {depth, reached};
}

void CheckPortsAndNics(const Topology& topology, int ports, int cables_of_nic) {
  const Cabling cabling = CablingOf(topology);
  for (size_t i = 0; i < cabling.cables.size(); ++i) {
    ASSERT_LE(cabling.cables[i], ports) << topology.fabric.switches[i].name;
    ASSERT_GT(cabling.cables[i], 0) << topology.fabric.switches[i].name << " has no cables";
  }
  ASSERT_EQ(cabling.nic_cables.size(),
            topology.hosts.size() * static_cast<size_t>(topology.host_kinds[0].nics.count));
  for (const auto& [nic, cables] : cabling.nic_cables) ASSERT_EQ(cables, cables_of_nic);
}

// Checks for each switch below the top tier that its rate upwards, times the oversubscription of
// the next tier, is at least its rate downwards.
void CheckTiers(const Topology& topology, double spine_over, double core_over) {
  std::vector<double> up(topology.fabric.switches.size()), down(up);
  int tiers = 0;
  for (const FabricLink& link : topology.fabric.links) {
    const auto rate = static_cast<double>(link.rate.bits_per_second());
    if (link.a.is_switch) up[static_cast<size_t>(link.a.index)] += rate;
    down[static_cast<size_t>(link.b.index)] += rate;
    const int tier = topology.fabric.switches[static_cast<size_t>(link.b.index)].tier;
    tiers = std::max(tiers, tier);
    if (link.a.is_switch) {
      ASSERT_EQ(topology.fabric.switches[static_cast<size_t>(link.a.index)].tier, tier - 1);
    }
  }
  for (size_t i = 0; i < up.size(); ++i) {
    const int tier = topology.fabric.switches[i].tier;
    if (tier == tiers) continue;
    ASSERT_GE(up[i] * (tier == 0 ? spine_over : core_over), down[i] * (1 - 1e-9))
        << topology.fabric.switches[i].name;
  }
}

TEST(ThreeTiersTest, RandomSizes) {
  std::mt19937 random(11);
  const auto pick = [&random](std::initializer_list<int> values) {
    return values.begin()[random() % values.size()];
  };
  int built = 0;
  for (int i = 0; i < 1500; ++i) {
    const int hosts = 1 + static_cast<int>(random() % 200), nics = pick({1, 2, 4, 8});
    const int ports = pick({8, 16, 32, 40, 64});
    const int spine_over = pick({1, 1, 2, 3}), core_over = pick({1, 1, 2, 7});
    const std::string fabric =
        fmt::format("{{kind: {}, leaf: {}, spine: {}, core: {}}}",
                    random() % 2 == 0 ? "rail-optimised" : "leaf-spine", Layer(ports),
                    Layer(ports, fmt::format(", oversubscription: {}", spine_over)),
                    Layer(ports, fmt::format(", oversubscription: {}", core_over)));
    SCOPED_TRACE(fmt::format("{} hosts of {}: {}", hosts, nics, fabric));
    const Result<Topology> topology = Make(hosts, nics, fabric);
    if (!topology.ok()) {
      const std::string text = topology.error().ToString();
      ASSERT_TRUE(text.find("has no room for") != std::string::npos ||
                  text.find("cannot reach") != std::string::npos)
          << text;
      continue;
    }
    const Cabling cabling = CablingOf(*topology);
    ASSERT_EQ(Depth(cabling, 0).second, static_cast<int>(cabling.cables.size()))
        << "every switch is reachable";
    built += topology->fabric.switches.back().tier == 2;
    CheckPortsAndNics(*topology, ports, 1);
    CheckTiers(*topology, spine_over, core_over);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(built, 300) << "fabrics with cores";
}

TEST(ThreeTiersTest, APodHoldsAllRailsOfItsHosts) {
  // 64 hosts of 8 rails on switches with 32 ports. A leaf serves 16 hosts, so a group of 16 hosts
  // has 8 leaves. A spine takes 16 leaves, so a pod has two groups. There are two pods of 16 spines
  // each.
  const Result<Topology> topology =
      Make(64, 8,
           fmt::format("{{kind: rail-optimised, leaf: {}, spine: {}, core: {}}}", Layer(32),
                       Layer(32), Layer(32)));
  ASSERT_TRUE(topology.ok()) << topology.error().ToString();
  const Cabling cabling = CablingOf(*topology);
  std::map<std::string, std::set<std::string>> leaves_of;  // pod of a spine -> leaves
  int cores = 0;
  for (size_t i = 0; i < cabling.neighbors.size(); ++i) {
    const FabricSwitch& each = topology->fabric.switches[i];
    cores += each.tier == 2;
    if (each.tier != 1) continue;
    for (const int next : cabling.neighbors[i]) {
      const FabricSwitch& other = topology->fabric.switches[static_cast<size_t>(next)];
      if (other.tier == 0) leaves_of[each.name.substr(0, 4)].insert(other.name);
    }
  }
  ASSERT_EQ(leaves_of.size(), 2u);
  EXPECT_TRUE(leaves_of["pod0"].count("leaf0.rail0") && leaves_of["pod0"].count("leaf1.rail7"));
  EXPECT_TRUE(leaves_of["pod1"].count("leaf2.rail0") && leaves_of["pod1"].count("leaf3.rail7"));
  EXPECT_EQ(leaves_of["pod0"].size(), 16u);
  EXPECT_EQ(cores, 16) << "one for each spine of a pod: 16 uplinks from each of two pods";
}

TEST(PlanesTest, EachNicHasACableToEachPlane) {
  const Result<Topology> topology =
      Make(32, 8,
           fmt::format("{{kind: rail-optimised, planes: 2, leaf: {}, spine: {}}}", Layer(32, ""),
                       Layer(64)));
  ASSERT_TRUE(topology.ok()) << topology.error().ToString();
  CheckPortsAndNics(*topology, 64, 2);
  const Cabling cabling = CablingOf(*topology);
  EXPECT_EQ(Depth(cabling, 0).second * 2, static_cast<int>(cabling.cables.size()));
  EXPECT_EQ(topology->fabric.switches[0].name, "leaf0.rail0.plane0");
  EXPECT_EQ(topology->fabric.links[0].rate.bits_per_second(), 200'000'000'000);
}

TEST(FatTreeTest, FourPortSwitchesGiveTheTextbookTree) {
  const Result<Topology> topology = Make(16, 1, "{kind: fat-tree, switch: " + Layer(4) + "}");
  ASSERT_TRUE(topology.ok()) << topology.error().ToString();
  EXPECT_EQ(topology->fabric.switches.size(), 20u) << "5 k^2 / 4";
  EXPECT_EQ(topology->fabric.links.size(), 48u) << "3 k^3 / 4";
  CheckPortsAndNics(*topology, 4, 1);
  CheckTiers(*topology, 1, 1);
  for (const int cables : CablingOf(*topology).cables) EXPECT_EQ(cables, 4);
  EXPECT_EQ(Depth(CablingOf(*topology), 0).first, 4) << "edge, aggregation, core and down again";
}

TEST(FatTreeTest, LeavesOutPodsWithoutNics) {
  const Result<Topology> topology = Make(2, 2, "{kind: fat-tree, switch: " + Layer(4) + "}");
  ASSERT_TRUE(topology.ok());
  EXPECT_EQ(topology->fabric.switches.size(), 4u) << "one pod needs no cores";
  EXPECT_EQ(Message(17, 1, "{kind: fat-tree, switch: " + Layer(4) + "}"),
            "error: 17 NICs do not fit on a fat-tree of switches with 4 ports: it takes 16");
  EXPECT_EQ(Message(2, 1, "{kind: fat-tree, switch: " + Layer(5) + "}"),
            "error: a fat-tree's switches have an even number of ports, not 5");
}

std::string Dragonfly(int p, int a, int h, int ports) {
  return fmt::format(
      "{{kind: dragonfly, switch: {}, nics_per_switch: {}, switches_per_group: {}, global_cables: "
      "{}, global_cable: 100 m}}",
      Layer(ports), p, a, h);
}

TEST(DragonflyTest, BalancedDragonflyOfThePaper) {
  // p = h = 2, a = 4: 9 groups, 36 switches, 72 NICs; any two switches are at most 3 hops apart.
  const Result<Topology> topology = Make(9, 8, Dragonfly(2, 4, 2, 7));
  ASSERT_TRUE(topology.ok()) << topology.error().ToString();
  EXPECT_EQ(topology->fabric.switches.size(), 36u);
  CheckPortsAndNics(*topology, 7, 1);
  const Cabling cabling = CablingOf(*topology);
  for (const int cables : cabling.cables) EXPECT_EQ(cables, 7) << "every port is used";
  for (int i = 0; i < 36; ++i) EXPECT_LE(Depth(cabling, i).first, 3);
  EXPECT_EQ(topology->fabric.links.back().delay, Time::Ns(500)) << "100 m between groups";
}

TEST(DragonflyTest, FewerGroupsHaveMoreCablesBetweenThem) {
  for (int groups = 1; groups <= 9; ++groups) {
    const Result<Topology> topology = Make(groups, 8, Dragonfly(2, 4, 2, 7));
    ASSERT_TRUE(topology.ok());
    CheckPortsAndNics(*topology, 7, 1);
    const size_t inside = static_cast<size_t>(groups) * (8 + 6);
    const size_t between = groups < 2 ? 0 : 8 / (groups - 1) * groups * (groups - 1) / 2;
    EXPECT_EQ(topology->fabric.links.size(), inside + between) << groups;
  }
  EXPECT_EQ(Message(10, 8, Dragonfly(2, 4, 2, 7)),
            "error: the NICs need 10 groups, but 2 cables from each switch join at most 9");
  EXPECT_EQ(Message(1, 8, Dragonfly(2, 4, 2, 6)),
            "error: a switch has 6 ports, but its NICs, its group and its global cables need 7");
}

std::string Torus(const std::string& dimensions, int ports, const std::string& more = "") {
  return fmt::format("{{kind: torus, switch: {}, dimensions: {}{}}}", Layer(ports), dimensions,
                     more);
}

TEST(TorusTest, RingsInEachDimension) {
  const Result<Topology> topology = Make(64, 2, Torus("[4, 4, 4]", 8));
  ASSERT_TRUE(topology.ok()) << topology.error().ToString();
  const Cabling cabling = CablingOf(*topology);
  EXPECT_EQ(cabling.cables.size(), 64u);
  for (const int cables : cabling.cables) EXPECT_EQ(cables, 2 + 6);
  EXPECT_EQ(Depth(cabling, 0).first, 6) << "two steps in each dimension";
  EXPECT_EQ(topology->fabric.switches[1 + 4 * 2 + 16 * 3].name, "at1.2.3");
}

TEST(TorusTest, AMeshHasCorners) {
  const Result<Topology> topology = Make(12, 1, Torus("[3, 4]", 5, ", wrap: false"));
  ASSERT_TRUE(topology.ok());
  const Cabling cabling = CablingOf(*topology);
  EXPECT_EQ(cabling.cables[0], 1 + 2);
  EXPECT_EQ(cabling.cables[4], 1 + 4);
  EXPECT_EQ(Depth(cabling, 0).first, 2 + 3);
}

TEST(TorusTest, RingOfTwoSwitchesHasOneCable) {
  const Result<Topology> topology = Make(2, 1, Torus("[2, 1]", 2));
  ASSERT_TRUE(topology.ok());
  EXPECT_EQ(topology->fabric.links.size(), 3u);
}

TEST(TorusTest, Mistakes) {
  EXPECT_EQ(Message(9, 1, Torus("[2, 4]", 5)),
            "error: 8 switches with 1 NICs each have no room for 9 NICs");
  EXPECT_EQ(Message(8, 1, Torus("[4, 4]", 4)),
            "error: a switch has 4 ports, but its NICs and its neighbors need 5");
  const std::string shape =
      "error: 'dimensions' must be 1 to 6 positive numbers, such as [4, 4, 8], of at most 65536 "
      "switches";
  for (const char* dimensions : {"[]", "[0]", "[a]", "4", "[70000]", "[300, 300]",
                                 "[1, 1, 1, 1, 1, 1, 1]", "[99999999999999999999]"}) {
    EXPECT_EQ(Message(1, 1, Torus(dimensions, 8)), shape) << dimensions;
  }
}

}  // namespace
}  // namespace drydock
