#include <gtest/gtest.h>

#include "core/schema/cluster/fabric_file.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;

// Two servers of two GPUs, with an NVSwitch each (4, 5), two rail switches (6, 7) and a spine (8).
constexpr const char* kTwoServers =
    "9 2 2 3 10 H100\n"
    "4 5 6 7 8\n"
    "0 4 2880Gbps 0.000025ms 0\n"
    "1 4 2880Gbps 0.000025ms 0\n"
    "2 5 2880Gbps 0.000025ms 0\n"
    "3 5 2880Gbps 0.000025ms 0\n"
    "0 6 400Gbps 0.0005ms 0\n"
    "1 7 400Gbps 0.0005ms 0\n"
    "2 6 400Gbps 0.0005ms 0\n"
    "3 7 400Gbps 0.0005ms 0\n"
    "6 8 800Gbps 0.0005ms 0\n"
    "7 8 800Gbps 0.0005ms 0\n";

Result<Topology> Make(const std::string& text) {
  Topology topology;
  HostKind kind;
  kind.gpus = 2;
  kind.nics.count = 2;
  kind.nics.rate = Bandwidth::BitsPerSecond(400'000'000'000);
  topology.host_kinds = {kind};
  topology.hosts = {0, 0};
  ASSIGN_OR_RETURN(
      const YamlNode node,
      ParseYaml("{kind: simai, file: t, switch_latency: 300 ns, switch_buffer: 32 MB}", "f"));
  Diagnostics diagnostics;
  ReadFabric(
      node, [&](const std::string&, const YamlNode&) { return std::optional<std::string>(text); },
      &topology, &diagnostics);
  RETURN_IF_ERROR(diagnostics.ToStatus());
  RETURN_IF_ERROR(CheckConnected(topology));
  return topology;
}

// Returns the first line of the error for the file with one piece replaced.
std::string With(const std::string& from, const std::string& to) {
  std::string text = kTwoServers;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const std::string error = ErrorText(Make(text));
  return error.substr(0, error.find('\n'));
}

TEST(FabricSimaiTest, ServersBecomeHostsAndGpusBecomeNics) {
  const Result<Topology> topology = Make(kTwoServers);
  ASSERT_TRUE(topology.ok()) << topology.error().ToString();
  ASSERT_EQ(topology->fabric.switches.size(), 3u);
  EXPECT_EQ(topology->fabric.switches[0].name, "switch6");
  EXPECT_EQ(topology->fabric.switches[0].latency, Time::Ns(300));
  ASSERT_EQ(topology->fabric.links.size(), 6u) << "links inside a host are skipped";
  const FabricLink& link = topology->fabric.links[3];
  EXPECT_TRUE(!link.a.is_switch && link.a.index == 1 && link.a.nic == 1);
  EXPECT_TRUE(link.b.is_switch && link.b.index == 1);
  EXPECT_EQ(link.delay, Time::Ns(500));
  EXPECT_EQ(topology->fabric.links[5].rate.bits_per_second(), 800'000'000'000);
}

TEST(FabricSimaiTest, MistakesAreLocated) {
  EXPECT_EQ(With("1 7 400Gbps", "1 9 400Gbps"), "t:8:1: error: there is no node 9");
  EXPECT_EQ(With("6 8 800Gbps 0.0005ms", "6 8 800Gbps 0.0005").substr(0, 37),
            "t:11:1: error: '0.0005' has no unit; ");
  EXPECT_EQ(With("6 8 800Gbps 0.0005ms 0", "6 8 800Gbps 0.0005ms 0.01"),
            "t:11:1: error: the error rate '0.01' is not read here; write it as 'bit_errors' under "
            "'faults'");
  EXPECT_EQ(With("3 10 H100", "3 11 H100"),
            "t:12:1: error: the first line announces 11 links, but there are 10");
  EXPECT_EQ(With("3 10 H100", "3 9 H100"),
            "t:12:1: error: there are more links than the 9 that the first line announces");
  EXPECT_EQ(With("4 5 6 7 8", "4 5 6 7 7"), "t:2:1: error: 7 is listed twice");
  EXPECT_EQ(With("4 5 6 7 8", "4 5 6 7"),
            "t:2:1: error: the second line must list 2 NVSwitches and 3 switches");
  EXPECT_EQ(
      With("9 2 2 3 10", "9 4 2 3 10"),
      "t:1:1: error: the topology has 4 GPUs per server, but the cluster's hosts have 2 NICs");
  EXPECT_EQ(With("9 2 2 3 10", "10 2 2 3 10"),
            "t:1:1: error: the topology has 5 GPUs with a NIC each, but the cluster has 4 NICs");
  EXPECT_EQ(With("9 2 2 3 10", "9 2 -2 3 10"), "t:1:1: error: '-2' is not a count");
  EXPECT_NE(ErrorText(Make("")).find("a SimAI topology begins with: nodes gpus_per_server"),
            std::string::npos);
}

}  // namespace
}  // namespace drydock
