#include "core/schema/cluster/fabric_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "core/schema/cluster/fabric_table.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;
using testing::FirstLine;

struct Shape {
  int hosts = 2;
  int nics = 1;
  int nic_gbps = 100;
};

Topology Hosts(const Shape& shape) {
  Topology topology;
  HostKind kind;
  kind.gpus = 8;
  kind.nics.count = shape.nics;
  kind.nics.rate = Bandwidth::BitsPerSecond(int64_t{1000000000} * shape.nic_gbps);
  topology.host_kinds = {kind};
  topology.hosts.assign(static_cast<size_t>(shape.hosts), 0);
  return topology;
}

Result<Topology> Make(const Shape& shape, const std::string& fabric) {
  Topology topology = Hosts(shape);
  ASSIGN_OR_RETURN(const YamlNode node, ParseYaml(fabric, "f"));
  Diagnostics diagnostics;
  ReadFabric(node, {}, &topology, &diagnostics);
  RETURN_IF_ERROR(diagnostics.ToStatus());
  RETURN_IF_ERROR(CheckConnected(topology));
  return topology;
}

std::string Layer(int ports, int gbps, const std::string& more = "") {
  return fmt::format("{{ports: {}, rate: {} Gbps, cable: 10 m, latency: 300 ns, buffer: 1 MB{}}}",
                     ports, gbps, more);
}

// Totals over the cables of a switch.
struct Load {
  int cables = 0;
  int64_t down = 0, up = 0;      // bits/s to NICs, to spines
  std::set<int> nics;            // NIC indices (rails)
  std::map<int, int> cables_to;  // by other switch
};

std::vector<Load> Loads(const Topology& topology) {
  std::vector<Load> loads(topology.fabric.switches.size());
  for (const FabricLink& link : topology.fabric.links) {
    for (const auto& [here, there] : {std::pair(link.a, link.b), std::pair(link.b, link.a)}) {
      if (!here.is_switch) continue;
      Load& load = loads[static_cast<size_t>(here.index)];
      ++load.cables;
      (there.is_switch ? load.up : load.down) += link.rate.bits_per_second();
      if (there.is_switch)
        ++load.cables_to[there.index];
      else
        load.nics.insert(there.nic);
    }
  }
  return loads;
}

// Checks what every two-tier fabric must satisfy, whatever its size.
void CheckTwoTiers(const Topology& topology, int leaf_ports, int spine_ports,
                   double oversubscription, bool rails) {
  const std::vector<Load> loads = Loads(topology);
  int spines = 0;
  for (const FabricSwitch& each : topology.fabric.switches) spines += each.tier;
  for (size_t s = 0; s < loads.size(); ++s) {
    const Load& load = loads[s];
    const bool is_spine = topology.fabric.switches[s].tier == 1;
    ASSERT_LE(load.cables, is_spine ? spine_ports : leaf_ports) << topology.fabric.switches[s].name;
    ASSERT_GT(load.cables, 0) << "a switch without cables";
    if (is_spine || spines == 0) continue;
    ASSERT_GE(static_cast<double>(load.up) * oversubscription,
              static_cast<double>(load.down) * (1 - 1e-9))
        << "the uplinks carry less than the oversubscription allows";
    ASSERT_EQ(load.cables_to.size(), static_cast<size_t>(spines)) << "a leaf misses a spine";
    for (const auto& [spine, cables] : load.cables_to) {
      ASSERT_EQ(cables, load.cables_to.begin()->second) << "spines get unequal shares of a leaf";
    }
    ASSERT_LE(load.nics.size(), rails ? 1u : load.nics.size()) << "a leaf of two rails";
  }
}

// Checks that every NIC has exactly one cable.
void CheckNics(const Topology& topology) {
  std::set<std::pair<int, int>> wired;
  for (const FabricLink& link : topology.fabric.links) {
    for (const LinkEnd& end : {link.a, link.b}) {
      ASSERT_TRUE(end.is_switch || wired.emplace(end.index, end.nic).second);
    }
  }
  ASSERT_EQ(wired.size(),
            topology.hosts.size() * static_cast<size_t>(topology.host_kinds[0].nics.count));
}

TEST(FabricPropertyTest, TwoTiersOfRandomSizes) {
  std::mt19937 random(7);
  const auto pick = [&random](std::initializer_list<int> values) {
    return values.begin()[random() % values.size()];
  };
  int built = 0;
  for (int i = 0; i < 3000; ++i) {
    const Shape shape = {1 + static_cast<int>(random() % 80), pick({1, 2, 4, 8}),
                         pick({100, 200, 400})};
    const int leaf_ports = 1 + static_cast<int>(random() % 130);
    const int spine_ports = 1 + static_cast<int>(random() % 130);
    const double oversubscription = pick({1, 1, 2, 3, 5}) / static_cast<double>(pick({1, 1, 2}));
    const bool rails = random() % 2 == 0;
    const std::string fabric =
        fmt::format("{{kind: {}, leaf: {}, spine: {}}}", rails ? "rail-optimised" : "leaf-spine",
                    Layer(leaf_ports, pick({100, 400})),
                    Layer(spine_ports, pick({100, 400, 800}),
                          fmt::format(", oversubscription: {}", oversubscription)));
    SCOPED_TRACE(fmt::format("{} hosts of {} NICs at {} Gbps: {}", shape.hosts, shape.nics,
                             shape.nic_gbps, fabric));
    const Result<Topology> topology = Make(shape, fabric);
    if (!topology.ok()) {
      const std::string text = topology.error().ToString();
      ASSERT_TRUE(text.find("has no room for") != std::string::npos ||
                  text.find("cannot reach") != std::string::npos)
          << text;
      continue;
    }
    ++built;
    CheckNics(*topology);
    CheckTwoTiers(*topology, leaf_ports, spine_ports, oversubscription, rails);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(built, 1000);
}

TEST(FabricTest, EightRailsOverTwoSpines) {
  // Eight hosts of eight rails on 40-port switches: each rail has one leaf with 8 cables down and 8
  // up, to two spines.
  const Result<Topology> selene = Make(
      {8, 8, 200},
      fmt::format("{{kind: rail-optimised, leaf: {}, spine: {}}}", Layer(40, 200), Layer(40, 200)));
  ASSERT_TRUE(selene.ok());
  EXPECT_EQ(selene->fabric.switches.size(), 10u);
  EXPECT_EQ(selene->fabric.links.size(), 128u);
  EXPECT_EQ(selene->fabric.switches[0].name, "leaf0.rail0");
  EXPECT_EQ(selene->fabric.switches[9].name, "spine1");
  EXPECT_EQ(selene->fabric.links[0].delay, Time::Ns(50)) << "10 m at 5 ns per meter";
}

TEST(FabricTest, AFullRailStillHasRoomForItsUplinks) {
  // 64 hosts on leaves of 64 ports: two leaves per rail, each with 32 cables down and 32 up.
  const Result<Topology> topology = Make(
      {64, 8, 400},
      fmt::format("{{kind: rail-optimised, leaf: {}, spine: {}}}", Layer(64, 400), Layer(64, 400)));
  ASSERT_TRUE(topology.ok());
  int leaves = 0;
  for (const FabricSwitch& each : topology->fabric.switches) leaves += each.tier == 0;
  EXPECT_EQ(leaves, 16);
  EXPECT_EQ(topology->fabric.switches.size(), 24u) << "8 spines of 64 ports carry 512 uplinks";
}

TEST(FabricTest, RailsWithoutSpinesAreSeparate) {
  const Result<Topology> topology =
      Make({4, 8, 400}, fmt::format("{{kind: rail-optimised, leaf: {}}}", Layer(4, 400)));
  ASSERT_TRUE(topology.ok());
  EXPECT_EQ(topology->fabric.switches.size(), 8u);
  EXPECT_EQ(topology->fabric.links.size(), 32u);
}

TEST(FabricTest, FasterSpinesNeedFewerCables) {
  const Result<Topology> topology = Make(
      {16, 8, 100},
      fmt::format("{{kind: leaf-spine, leaf: {}, spine: {}}}", Layer(40, 400), Layer(64, 400)));
  ASSERT_TRUE(topology.ok());
  // 32 NICs of 100 Gbps below a leaf of 40 ports need 8 cables of 400 Gbps.
  const std::vector<Load> loads = Loads(*topology);
  EXPECT_EQ(loads[0].cables, 40);
  EXPECT_EQ(loads[0].up, loads[0].down);
}

TEST(FabricTest, SingleSwitch) {
  const std::string fabric = "{kind: single-switch, switch: " + Layer(16, 400) + "}";
  const Result<Topology> topology = Make({4, 4, 100}, fabric);
  ASSERT_TRUE(topology.ok());
  EXPECT_EQ(topology->fabric.links.size(), 16u);
  EXPECT_EQ(topology->fabric.links[0].rate.bits_per_second(), 100000000000) << "the slower end";
  EXPECT_NE(ErrorText(Make({5, 4, 100}, fabric)).find("error: 20 NICs do not fit on 16 ports"),
            std::string::npos);
}

// ---- Mistakes -------------------------------------------------------------------------------

// The first line of the message.
std::string Message(const Shape& shape, const std::string& fabric) {
  return FirstLine(ErrorText(Make(shape, fabric)));
}

TEST(FabricMistakeTest, TooFewPorts) {
  EXPECT_EQ(
      Message({9, 1}, "{kind: rail-optimised, leaf: " + Layer(8, 100) + "}"),
      "f:1:30: error: 9 hosts do not fit on a leaf of 8 ports, and there is no 'spine' to join "
      "several");
  EXPECT_EQ(
      Message({9, 2}, "{kind: leaf-spine, leaf: " + Layer(8, 100) + "}"),
      "f:1:26: error: 18 NICs do not fit on a leaf of 8 ports, and there is no 'spine' to join "
      "several");
  EXPECT_EQ(Message({2, 2}, "{kind: rail-optimised, leaf: " + Layer(1, 100) +
                                ", spine: " + Layer(8, 100) + "}"),
            "f:1:30: error: a leaf of 1 ports has no room for a NIC and its uplinks");
  EXPECT_EQ(Message({9, 8}, "{kind: leaf-spine, leaf: " + Layer(8, 100) +
                                ", spine: " + Layer(8, 100) + "}"),
            "f:1:26: error: a leaf of 8 ports has no room for a host's 8 NICs and their uplinks");
  EXPECT_EQ(
      Message({80, 1},
              "{kind: leaf-spine, leaf: " + Layer(4, 100) + ", spine: " + Layer(8, 100) + "}"),
      "f:1:105: error: a spine of 8 ports cannot reach 40 leaf switches; two tiers are too few "
      "for this many hosts");
  EXPECT_EQ(Message({2, 1}, "{kind: none}"),
            "f:1:8: error: 'none' joins no hosts, but the cluster has 2");
}

TEST(FabricMistakeTest, Layers) {
  const auto leaf = [](const std::string& layer) {
    return Message({2, 1}, "{kind: rail-optimised, leaf: " + layer + "}");
  };
  EXPECT_EQ(leaf("{ports: 8}"), "f:1:30: error: 'leaf' lacks the key 'rate'");
  EXPECT_EQ(leaf("8"),
            "f:1:30: error: 'leaf' must be a section of keys and values, found a single value");
  EXPECT_EQ(leaf(Layer(0, 100)), "f:1:38: error: 'ports' is 0; it must be between 1 and 4096");
  EXPECT_EQ(leaf(Layer(8, 0)), "f:1:47: error: 'rate' is 0 bps; it must be at least 1 Mbps");
  EXPECT_EQ(leaf(Layer(8, 100, ", oversubscription: 2")),
            "f:1:101: error: unknown key 'oversubscription' in 'leaf'; valid keys are ports, rate, "
            "cable, latency, buffer");
  EXPECT_EQ(leaf("{ports: 8, rate: 1 Gbps, cable: 0 m, latency: 1 ns, buffer: 1 B}"),
            "f:1:62: error: a signal takes 0 s over '0 m'; it must take between 1 ps and 1 s");
  EXPECT_EQ(
      leaf("{ports: 8, rate: 1 Gbps, cable: 1e300 km, latency: 1 ns, buffer: 1 B}"),
      "f:1:62: error: a signal takes 5e+294 s over '1e300 km'; it must take between 1 ps and 1 s");
  EXPECT_EQ(leaf("{ports: 8, rate: 1 Gbps, cable: 10, latency: 1 ns, buffer: 1 B}"),
            "f:1:62: error: '10' has no unit; valid units are m, cm, km, as in '10 m'");
  EXPECT_EQ(Message({2, 1}, "{kind: leaf-spine, leaf: " + Layer(8, 100) +
                                ", spine: " + Layer(8, 100, ", oversubscription: 0") + "}"),
            "f:1:194: error: 'oversubscription' is 0; it must be between 0.01 and 100");
  EXPECT_EQ(
      Message({2, 1}, "{kind: tree}"),
      "f:1:8: error: 'tree' is not a valid kind; valid values are rail-optimised, leaf-spine, "
      "fat-tree, single-switch, dragonfly, torus, simai, explicit, none");
  EXPECT_EQ(Message({2, 1}, "{kind: single-switch, swich: 1}"),
            "f:1:1: error: 'fabric' lacks the key 'switch'");
}

constexpr const char* kExplicit = R"(kind: explicit
switches: [{name: s0, latency: 1 ns, buffer: 1 MB}, {name: s1, latency: 1 ns, buffer: 1 MB}]
links:
  - {from: host0/nic0, to: s0, rate: 1 Gbps, delay: 1 ns}
  - {from: host1/nic0, to: s1, rate: 1 Gbps, delay: 1 ns}
)";

TEST(FabricMistakeTest, ExplicitLinks) {
  const auto with = [](const std::string& more) {
    return Message({2, 1}, std::string(kExplicit) + more);
  };
  const auto link = [&with](const std::string& from, const std::string& to) {
    return with(fmt::format("  - {{from: {}, to: {}, rate: 1 Gbps, delay: 1 ns}}\n", from, to));
  };
  EXPECT_EQ(link("s0", "s1"), "ok");
  EXPECT_EQ(with(""),
            "error: the fabric is disconnected: NIC 0 of host 0 cannot reach NIC 0 of host 1");
  EXPECT_EQ(link("s0", "s0"), "f:6:20: error: 's0' is joined to itself");
  EXPECT_EQ(link("s0", "host2/nic0"), "f:6:20: error: there is no host 2; the cluster has 2");
  EXPECT_EQ(link("s0", "host1/nic1"), "f:6:20: error: host 1 has no NIC 1; it has 1");
  EXPECT_EQ(link("s0", "host1/nic0"), "ok") << "a NIC may be on two planes";
  EXPECT_EQ(
      link("s0", "host99999999999999999999/nic0"),
      "f:6:20: error: 'host99999999999999999999/nic0' is neither a NIC ('host0/nic0') nor one of "
      "the switches");
  EXPECT_EQ(
      link("s0", "S1"),
      "f:6:20: error: 'S1' is neither a NIC ('host0/nic0') nor one of the switches; did you mean "
      "'s1'?");
  EXPECT_EQ(with("  - {from: s0, to: s1, rate: 1 Gbps, delay: 0 ns}\n"),
            "f:6:45: error: 'delay' is 0 ps; it must be between 1 ps and 1 s");
  EXPECT_EQ(with("  - {from: s0, to: s1, rate: 1 bps, delay: 1 ns}\n"),
            "f:6:30: error: 'rate' is 1 bps; it must be at least 1 Mbps");
  EXPECT_EQ(with("  - {from: s0, rate: 1 Gbps, delay: 1 ns}\n"),
            "f:6:5: error: 'link' lacks the key 'to'");
}

TEST(FabricMistakeTest, ExplicitSwitches) {
  const auto switches = [](const std::string& list) {
    return Message({1, 1}, "kind: explicit\nlinks: []\nswitches: " + list + "\n");
  };
  EXPECT_EQ(switches("[]"), "ok");
  EXPECT_EQ(switches("{a: 1}"), "f:3:11: error: 'switches' must be a list");
  EXPECT_EQ(
      switches("[{name: a, latency: 1 ns, buffer: 1 B}, {name: a, latency: 1 ns, buffer: 1 B}]"),
      "f:3:58: error: there is another switch 'a'");
  EXPECT_EQ(switches("[{name: host0/nic0, latency: 1 ns, buffer: 1 B}]"),
            "f:3:19: error: a switch cannot be called 'host0/nic0'");
  EXPECT_EQ(switches("[{name: '', latency: 1 ns, buffer: 1 B}]"),
            "f:3:19: error: a switch cannot be called ''");
  EXPECT_EQ(switches("[{name: a, latency: 1 ns, buffer: 1 B, tier: -1}]"),
            "f:3:56: error: 'tier' is -1; it must be between 0 and 16");
  EXPECT_EQ(switches("[{name: a, latency: 1 ns}]"),
            "f:3:12: error: 'switch' lacks the key 'buffer'");
}

TEST(FabricSharpTest, IsReadOnlyOnInfiniband) {
  const auto made = [](TransportKind transport, const std::string& fabric) {
    Topology topology = Hosts({2, 1});
    topology.transport.kind = transport;
    Diagnostics diagnostics;
    ReadFabric(ParseYaml(fabric, "f").value(), {}, &topology, &diagnostics);
    EXPECT_EQ(topology.fabric.sharp.has_value(), fabric.find("sharp") != std::string::npos);
    return FirstLine(ErrorText(diagnostics.ToStatus()));
  };
  const std::string fabric = "kind: single-switch\nswitch: " + Layer(2, 100) + "\n";
  EXPECT_EQ(made(TransportKind::kInfiniBand, fabric), "ok");
  EXPECT_EQ(made(TransportKind::kInfiniBand, fabric + "sharp: {latency: 150 ns}\n"), "ok");
  EXPECT_EQ(made(TransportKind::kRoceV2, fabric + "sharp: {latency: 150 ns}\n"),
            "f:3:8: error: 'sharp' is a service of InfiniBand switches, but the transport's kind "
            "is 'roce-v2'");
  EXPECT_EQ(made(TransportKind::kInfiniBand, fabric + "sharp: {latency: 2 s}\n"),
            "f:3:18: error: 'latency' is 2 s; it must be at most 1 s");
  EXPECT_EQ(made(TransportKind::kInfiniBand, fabric + "sharp: {latncy: 2 s}\n"),
            "f:3:8: error: 'sharp' lacks the key 'latency'");
}

TEST(FabricSharpTest, NeedsSwitches) {
  Topology topology = Hosts({1, 1});
  topology.transport.kind = TransportKind::kInfiniBand;
  Diagnostics diagnostics;
  ReadFabric(ParseYaml("kind: none\nsharp: {latency: 150 ns}\n", "f").value(), {}, &topology,
             &diagnostics);
  EXPECT_EQ(FirstLine(ErrorText(diagnostics.ToStatus())),
            "f:2:8: error: 'none' has no switches that could reduce");
  Diagnostics refused;
  ReadFabric(ParseYaml("kind: single-switch\nsharp: {latency: 150 ns}\n", "f").value(), {},
             &topology, &refused);
  EXPECT_FALSE(refused.ok());
  EXPECT_EQ(ErrorText(refused.ToStatus()).find("could reduce"), std::string::npos)
      << "the fabric lacks its switch section, which is the mistake";
}

TEST(FabricRoutingTest, IsReadForEveryKind) {
  const auto made = [](const std::string& routing) {
    Topology topology = Hosts({2, 1});
    Diagnostics diagnostics;
    ReadFabric(
        ParseYaml("kind: single-switch\nswitch: " + Layer(2, 100) + "\n" + routing, "f").value(),
        {}, &topology, &diagnostics);
    return std::string(ToString(topology.fabric.routing)) + " " +
           FirstLine(ErrorText(diagnostics.ToStatus()));
  };
  EXPECT_EQ(made(""), "ecmp ok");
  EXPECT_EQ(made("routing: spray\n"), "spray ok");
  EXPECT_EQ(made("routing: adaptve\n"),
            "ecmp f:3:10: error: 'adaptve' is not a valid routing; did you mean 'adaptive'?; valid "
            "values are "
            "ecmp, flowlet, adaptive, spray");
}

TEST(FabricKindsTest, ListsAllNineKinds) {
  std::vector<std::string> names;
  for (const FabricKind& kind : FabricKinds()) names.emplace_back(kind.name);
  EXPECT_EQ(names,
            std::vector<std::string>({"rail-optimised", "leaf-spine", "fat-tree", "single-switch",
                                      "dragonfly", "torus", "simai", "explicit", "none"}));
}

}  // namespace
}  // namespace drydock
