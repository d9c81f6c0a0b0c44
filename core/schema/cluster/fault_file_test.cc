#include "core/schema/cluster/fault_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/yaml.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;

// Two hosts of two NICs, one at switch `left` and one at `right`, which two cables join.
Topology TwoSwitches() {
  Topology topology;
  topology.host_kinds.resize(1);
  topology.host_kinds[0].nics.count = 2;
  topology.host_kinds[0].gpus = 4;
  topology.hosts = {0, 0};
  for (const char* name : {"left", "right"}) {
    FabricSwitch described;
    described.name = name;
    topology.fabric.switches.push_back(described);
  }
  const LinkEnd left{true, 0, 0}, right{true, 1, 0};
  const auto join = [&](LinkEnd a, LinkEnd b) {
    FabricLink link;
    link.a = a;
    link.b = b;
    topology.fabric.links.push_back(link);
  };
  for (int nic = 0; nic < 2; ++nic) join({false, 0, nic}, left);   // cables 0, 1
  for (int nic = 0; nic < 2; ++nic) join({false, 1, nic}, right);  // 2, 3
  join(left, right);                                               // 4, 5
  join(left, right);
  return topology;
}

std::vector<Fault> Read(const std::string& yaml, std::string* error = nullptr) {
  Topology topology = TwoSwitches();
  Diagnostics diagnostics;
  std::vector<SlowGpu> slow_gpus;
  ReadFaults(ParseYaml(yaml, "f").value(), &topology, &slow_gpus, &diagnostics);
  const std::string text = ErrorText(diagnostics.ToStatus());
  if (error != nullptr) {
    *error = testing::FirstLine(text);
  } else {
    EXPECT_EQ(text, "ok");
  }
  return topology.faults;
}

std::string ErrorOf(const std::string& yaml) {
  std::string error;
  Read(yaml, &error);
  return error;
}

TEST(FaultFileTest, PlacesBecomeCables) {
  EXPECT_EQ(Read("- {link: [right, left]}\n")[0].links, (std::vector<int>{4, 5}));
  EXPECT_EQ(Read("- {link: [host1/nic0, right]}\n")[0].links, (std::vector<int>{2}));
  EXPECT_EQ(Read("- {switch: left}\n")[0].links, (std::vector<int>{0, 1, 4, 5}));
  EXPECT_EQ(Read("- {nic: host1/nic1}\n")[0].links, (std::vector<int>{3}));
}

TEST(FaultFileTest, EndsAreSeparateEntriesAndEntriesAreSortedByTime) {
  const std::vector<Fault> faults = Read(
      "- {switch: left, at: 5 ms, until: 7 ms}\n"
      "- {nic: host0/nic0, rate: 50 Gbps, at: 6 ms}\n"
      "- {link: [left, right], bit_errors: 1e-9}\n");
  ASSERT_EQ(faults.size(), 4u);
  EXPECT_EQ(faults[0].kind, Fault::Kind::kErrors);
  EXPECT_EQ(faults[0].bit_errors, 1e-9);
  EXPECT_EQ(faults[1].kind, Fault::Kind::kDown);
  EXPECT_EQ(faults[1].at, Time::Us(5000));
  EXPECT_EQ(faults[2].rate.bits_per_second(), 50'000'000'000);
  EXPECT_TRUE(faults[3].ends);
  EXPECT_EQ(faults[3].kind, Fault::Kind::kDown);
  EXPECT_EQ(faults[3].links, faults[1].links);
}

TEST(FaultFileTest, GpusAreSlowForATimeOrPermanently) {
  Topology topology = TwoSwitches();
  Diagnostics diagnostics;
  std::vector<SlowGpu> slow_gpus;
  ReadFaults(ParseYaml("- {gpu: host1/gpu2, slowdown: 1.5, at: 3 ms, until: 5 ms}\n"
                       "- {rank: 6, slowdown: 1.1, at: 1 ms}\n"
                       "- {host: host0, slowdown: 2}\n",
                       "f")
                 .value(),
             &topology, &slow_gpus, &diagnostics);
  EXPECT_EQ(ErrorText(diagnostics.ToStatus()), "ok");
  EXPECT_TRUE(topology.faults.empty()) << "slow GPUs are not faults of the network";
  std::string listed;
  for (const SlowGpu& slow : slow_gpus) {
    listed += fmt::format("{} ms: host {} gpu {} x {}\n", slow.at.us() / 1000, slow.host, slow.gpu,
                          slow.slowdown);
  }
  EXPECT_EQ(listed,
            "0 ms: host 0 gpu -1 x 2\n"
            "1 ms: host 1 gpu 2 x 1.1\n"
            "3 ms: host 1 gpu 2 x 1.5\n"
            "5 ms: host 1 gpu 2 x 1\n");
}

TEST(FaultFileTest, MistakesInSlowGpusAreLocated) {
  EXPECT_EQ(ErrorOf("- {gpu: host1/gpu4, slowdown: 2}\n"),
            "f:1:9: error: host 1 has no GPU 4; it has 4");
  EXPECT_EQ(ErrorOf("- {gpu: host2/gpu0, slowdown: 2}\n"),
            "f:1:9: error: there is no host 2; the cluster has 2");
  EXPECT_EQ(ErrorOf("- {gpu: gpu0, slowdown: 2}\n"),
            "f:1:9: error: 'gpu0' is not a GPU; write 'host0/gpu0'");
  EXPECT_EQ(ErrorOf("- {host: 1, slowdown: 2}\n"),
            "f:1:10: error: '1' is not a host; write 'host0'");
  EXPECT_EQ(ErrorOf("- {rank: 8, slowdown: 2}\n"),
            "f:1:10: error: there is no rank 8; the cluster has 8 GPUs");
  EXPECT_EQ(ErrorOf("- {rank: 1, slowdown: 0.5}\n"),
            "f:1:23: error: 'slowdown' is a factor on the time of compute, from 1 to 1000");
  EXPECT_EQ(ErrorOf("- {rank: 1}\n"), "f:1:3: error: 'fault' lacks the key 'slowdown'");
  EXPECT_EQ(ErrorOf("- {rank: 1, host: host0, slowdown: 2}\n"),
            "f:1:19: error: a slow GPU is named by one of 'gpu', 'host' and 'rank'");
}

TEST(FaultFileTest, MistakesAreLocated) {
  EXPECT_EQ(ErrorOf("- {at: 1 ms}\n"),
            "f:1:3: error: a fault names one of 'link', 'switch', 'nic', 'gpu', 'host' and 'rank'");
  EXPECT_EQ(ErrorOf("- {switch: lft}\n"),
            "f:1:12: error: 'lft' is neither a NIC ('host0/nic0') nor one of the switches; did you "
            "mean 'left'?");
  EXPECT_EQ(ErrorOf("- {switch: host0/nic0}\n"),
            "f:1:12: error: 'host0/nic0' is a NIC, not a switch");
  EXPECT_EQ(ErrorOf("- {link: [host0/nic0, right]}\n"),
            "f:1:10: error: no cable joins 'host0/nic0' and 'right'");
  EXPECT_EQ(ErrorOf("- {switch: left, at: 2 ms, until: 1 ms}\n"),
            "f:1:35: error: 'until' is 1 ms, which is not after 'at', 2 ms");
  EXPECT_EQ(ErrorOf("- {switch: left, rate: 1 Gbps, bit_errors: 1e-3}\n"),
            "f:1:44: error: a fault has either 'rate' or 'bit_errors'; write two faults");
  EXPECT_EQ(
      ErrorOf("- {switch: left, bit_errors: 2}\n"),
      "f:1:30: error: 'bit_errors' is the probability that a bit arrives wrong, above 0 and at "
      "most 0.01");
  EXPECT_EQ(ErrorOf("- {switch: left, untill: 2 ms}\n"),
            "f:1:18: error: unknown key 'untill' in 'fault'; did you mean 'until'?; valid keys are "
            "link, switch, nic, rate, bit_errors, at, until");
  EXPECT_EQ(ErrorOf("a: 1\n"), "f:1:1: error: 'faults' must be a list");
}

}  // namespace
}  // namespace drydock
