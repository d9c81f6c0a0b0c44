#include "core/schema/cluster/cluster_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/files.h"
#include "core/schema/cluster/gpu_file.h"
#include "core/schema/testing/workload_testing.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;
using testing::TemporaryDirectory;

// Returns the error of the toy cluster with one piece of its text replaced.
std::string ErrorWith(const std::string& from, const std::string& to) {
  const std::string text = testing::Replaced(testing::ToyClusterText(), from, to);
  return ErrorText(ParseCluster(text, "toys.topo", testing::ToyFiles()));
}
// Returns the first line of this error.
std::string MessageWith(const std::string& from, const std::string& to) {
  return testing::FirstLine(ErrorWith(from, to));
}

TEST(ClusterFileTest, EveryShippedClusterReads) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("configs/clusters")) {
    const Result<ClusterInput> cluster = LoadCluster(entry.path(), {});
    ASSERT_TRUE(cluster.ok()) << cluster.error().ToString();
    EXPECT_EQ(cluster->topology.name, entry.path().stem());
    ++count;
  }
  EXPECT_GE(count, 4);
}

TEST(ClusterFileTest, FieldsOfTheToyCluster) {
  const Topology t = testing::ToyCluster().topology;
  EXPECT_EQ(t.host_count(), 2);
  EXPECT_EQ(t.gpu_count(), 4);
  EXPECT_EQ(t.gpus[0].name, "toy");
  EXPECT_EQ(t.host_kinds[0].scale_up.bandwidth.bits_per_second(), 400000000000);
  EXPECT_TRUE(t.host_kinds[0].scale_up.multicast);
  EXPECT_EQ(t.host_kinds[0].nics.pcie_generation, 4);
  EXPECT_EQ(t.host_kinds[0].nics.pcie_lanes, 8);
  EXPECT_EQ(t.transport.kind, TransportKind::kInfiniBand);
  EXPECT_EQ(t.transport.mtu.count(), 2048);
  EXPECT_EQ(t.transport.packets_per_ack, 8);
  EXPECT_EQ(t.nccl_settings, (std::vector<std::pair<std::string, std::string>>{
                                 {"NCCL_ALGO", "Ring"}, {"NCCL_CROSS_NIC", "2"}}));
}

TEST(ClusterFileTest, TheStoredTextReadsBackAsTheSameCluster) {
  const ClusterInput first = testing::ToyCluster();
  const Result<ClusterInput> second = ParseCluster(first.yaml, "again", first.files);
  ASSERT_TRUE(second.ok()) << second.error().ToString();
  EXPECT_EQ(second->yaml, first.yaml);
  EXPECT_EQ(second->topology.fabric.links.size(), first.topology.fabric.links.size());
}

TEST(ClusterFileTest, ClusterWithoutANameKeepsTheNameOfItsFile) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(MakeDirectories(dir / "gpus").ok());
  ASSERT_TRUE(WriteFileAtomically(dir / "gpus/toy.yaml", testing::ToyGpuText()).ok());
  ASSERT_TRUE(WriteFileAtomically(dir / "box.xml", "<system/>").ok());
  std::string text = testing::ToyClusterText();
  text.replace(text.find("name: toys, "), 12, "");
  ASSERT_TRUE(WriteFileAtomically(dir / "mine.topo", text).ok());
  const Result<ClusterInput> read = LoadCluster(dir / "mine.topo", {"cluster.hosts=3"});
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(read->topology.name, "mine");
  EXPECT_EQ(read->topology.host_count(), 3);
  EXPECT_EQ(ParseCluster(read->yaml, "copy", read->files)->topology.name, "mine");
}

TEST(ClusterFileTest, UnknownGpuSuggestsAKnownOne) {
  const TemporaryDirectory dir;
  std::string text = testing::ToyClusterText();
  text.replace(text.find("gpu: toy"), 8, "gpu: h100-sxm-80gb");
  ASSERT_TRUE(WriteFileAtomically(dir / "c.topo", text).ok());
  const std::string error = ErrorText(LoadCluster(dir / "c.topo", {}));
  EXPECT_NE(error.find("c.topo:4:10: error: there is no specification of the GPU 'h100-sxm-80gb'; "
                       "did you mean 'h100-sxm-80g'?; known are a100-pcie-80g, "),
            std::string::npos)
      << error;
}

// Reads the toy cluster with these GPU files.
Result<ClusterInput> WithGpus(const std::vector<std::pair<std::string, std::string>>& gpus) {
  std::vector<std::pair<std::string, std::string>> files = {testing::ToyFiles()[1]};
  for (const auto& [name, text] : gpus) files.emplace_back("gpus/" + name + ".yaml", text);
  return ParseCluster(testing::ToyClusterText(), "c", files);
}
std::string GpuWith(const std::string& name, const std::string& last_line) {
  return testing::Replaced(testing::Replaced(testing::ToyGpuText(), "name: toy", "name: " + name),
                           "collectives: none\n", last_line);
}

// A section in a file of the chain overrides those of its reference.
TEST(ClusterFileTest, CollectiveCostsComeFromTheReferencesReferenceToo) {
  const std::string h100 = *ReadFile("configs/gpus/h100-sxm-80g.yaml");
  const Result<ClusterInput> read =
      WithGpus({{"toy", GpuWith("toy", "  reference: tin\n")},
                {"tin", GpuWith("tin", "  reference: h100-sxm-80g\n")},
                {"h100-sxm-80g", h100}});
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  const GpuSpec& gpu = read->topology.gpus[0];
  EXPECT_TRUE(gpu.has_collective_costs);
  EXPECT_EQ(gpu.collectives.source, ParseGpuFile(h100, "h")->collectives.source);
  EXPECT_EQ(read->files.size(), 4u) << "the workload has a copy of each file";
  EXPECT_EQ(
      testing::FirstLine(ErrorText(WithGpus({{"toy", GpuWith("toy", "  reference: tin\n")},
                                             {"tin", GpuWith("tin", "  reference: toy\n")}}))),
      "c:4:10: error: these GPUs are each other's reference: toy, tin, toy");
}

// A replay needs the collective costs of its GPU.
TEST(ClusterFileTest, EveryShippedGpuHasCollectiveCosts) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(WriteFileAtomically(dir / "box.xml", "<system/>").ok());
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("configs/gpus")) {
    const std::string gpu = entry.path().stem();
    const double nvlink =
        ParseGpuFile(*ReadFile(entry.path()), gpu)->nvlink.bytes_per_second() / 1e9;
    std::string text = testing::Replaced(testing::ToyClusterText(), "gpu: toy", "gpu: " + gpu);
    text = testing::Replaced(text, "50 GB/s, latency: 600 ns, multicast: true",
                             fmt::format("{} GB/s, latency: 1 us", nvlink > 0 ? nvlink : 20));
    if (nvlink == 0) text = testing::Replaced(text, "kind: nvswitch, switches: 1", "kind: pcie");
    ASSERT_TRUE(WriteFileAtomically(dir / "c.topo", text).ok());
    const Result<ClusterInput> read = LoadCluster(dir / "c.topo", {});
    ASSERT_TRUE(read.ok()) << read.error().ToString();
    EXPECT_TRUE(read->topology.gpus[0].has_collective_costs) << gpu;
    ++count;
  }
  EXPECT_GE(count, 10);
}

TEST(ClusterFileTest, MistakesInNamedFiles) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(MakeDirectories(dir / "gpus").ok());
  ASSERT_TRUE(WriteFileAtomically(dir / "c.topo", testing::ToyClusterText()).ok());
  ASSERT_TRUE(WriteFileAtomically(dir / "gpus/toy.yaml", "").ok());
  const std::string error = ErrorText(LoadCluster(dir / "c.topo", {}));
  EXPECT_NE(error.find("gpus/toy.yaml: error: the file is empty"), std::string::npos) << error;
  EXPECT_NE(error.find("c.topo:8:20: error: '" + dir / "box.xml" +
                       "': cannot read: No such file or directory"),
            std::string::npos)
      << error;
  std::string other = testing::ToyGpuText();
  other.replace(other.find("name: toy"), 9, "name: tin");
  EXPECT_EQ(ErrorText(ParseCluster(testing::ToyClusterText(), "c",
                                   {{"gpus/toy.yaml", other}, {"box.xml", "x"}})),
            "gpus/toy.yaml: error: its 'name' is 'tin', not 'toy'");
  EXPECT_EQ(ErrorText(LoadCluster(dir / "none.topo", {})),
            dir / "none.topo" + ": error: cannot read: No such file or directory");
}

TEST(ClusterFileTest, MistakesShowTheirPlace) {
  EXPECT_EQ(
      ErrorWith("bandwidth: 50 GB/s", "bandwidth: 50 GB"),
      "toys.topo:6:56: error: 'GB' is not a bandwidth unit; did you mean 'GB/s'?; valid units "
      "are bps, Kbps, Mbps, Gbps, Tbps, B/s, KB/s, MB/s, GB/s, TB/s\n"
      "      scale_up: {kind: nvswitch, switches: 1, bandwidth: 50 GB, latency: 600 ns, "
      "multicast: true}\n"
      "                                                         ^");
}

TEST(ClusterFileTest, MistakesInClusterSection) {
  EXPECT_EQ(MessageWith("hosts: 2}", "hosts: 0}"),
            "toys.topo:1:41: error: 'hosts' is 0; it must be between 1 and 131072");
  EXPECT_EQ(MessageWith("host: box", "host: bix"),
            "toys.topo:1:29: error: there is no host kind 'bix'; did you mean 'box'?; 'hosts' "
            "describes box");
  EXPECT_EQ(MessageWith("host: box", "host: ''"),
            "toys.topo:1:29: error: there is no host kind ''; 'hosts' describes box");
  EXPECT_EQ(MessageWith(", hosts: 2", ""),
            "toys.topo:1:10: error: 'cluster' lacks the key 'hosts'");
  EXPECT_EQ(MessageWith("cluster: {name: toys, host: box, hosts: 2}\n", ""),
            "toys.topo:1:1: error: 'the cluster' lacks the key 'cluster'");
  EXPECT_EQ(MessageWith("transport:", "transprot:"),
            "toys.topo:13:1: error: unknown key 'transprot' in 'the cluster'; did you mean "
            "'transport'?; valid keys are cluster, hosts, fabric, transport, nccl, jitter, faults, "
            "cost, storage");
}

TEST(ClusterFileTest, MistakesInHosts) {
  EXPECT_EQ(
      MessageWith("  box:\n", "  box: 5\n  box2:\n"),
      "toys.topo:3:8: error: 'box' must be a section of keys and values, found a single value");
  EXPECT_EQ(MessageWith("gpus: 2", "gpus: 0"),
            "toys.topo:5:11: error: 'gpus' is 0; it must be between 1 and 128");
  EXPECT_EQ(MessageWith("gpu: toy", "gpu: [toy]"),
            "toys.topo:4:10: error: expected a name, found a list");
  EXPECT_EQ(MessageWith("gpu: toy", "gpu: tin"),
            "toys.topo:4:10: error: there is no copy of 'gpus/tin.yaml'");
  EXPECT_EQ(MessageWith("kind: nvswitch", "kind: nvlink"),
            "toys.topo:6:22: error: 'nvlink' is not a valid kind; did you mean 'nvlink-mesh'?; "
            "valid values are "
            "nvswitch, nvlink-mesh, pcie");
  EXPECT_EQ(MessageWith("switches: 1, ", ""),
            "toys.topo:6:15: error: 'scale_up' lacks the key 'switches'");
  EXPECT_EQ(MessageWith("kind: nvswitch", "kind: pcie"),
            "toys.topo:6:89: error: only NVSwitches multicast, from Hopper on");
  EXPECT_EQ(MessageWith("bandwidth: 50 GB/s", "bandwidth: 0 GB/s"),
            "toys.topo:6:56: error: 'bandwidth' is 0 bps; it must be at least 1 Mbps");
  EXPECT_EQ(MessageWith("multicast: true", "multicast: yes"),
            "toys.topo:6:93: error: 'yes' is neither true nor false");
  EXPECT_EQ(MessageWith("nccl_topology: box.xml", "nccl_topology: {}"),
            "toys.topo:8:20: error: expected a name, found a section");
}

// Returns the message for the toy host with another scale_up. Its GPU has two NVLinks of 25 GB/s.
std::string ScaleUpMessage(const std::string& scale_up) {
  return MessageWith(
      "{kind: nvswitch, switches: 1, bandwidth: 50 GB/s, latency: 600 ns, "
      "multicast: true}",
      scale_up);
}

TEST(ClusterFileTest, ScaleUpMustFitTheGpu) {
  EXPECT_EQ(ScaleUpMessage("{kind: nvswitch, switches: 1, bandwidth: 75 GB/s, latency: 1 us}"),
            "toys.topo:6:56: error: 600 Gbps is more than the NVLinks of a 'toy' carry, 400 Gbps");
  EXPECT_EQ(ScaleUpMessage("{kind: nvswitch, switches: 1, bandwidth: 30 GB/s, latency: 1 us}"),
            "toys.topo:6:56: error: 240 Gbps is not a whole number of NVLinks of 200 Gbps each");
  EXPECT_EQ(
      ScaleUpMessage("{kind: pcie, bandwidth: 20 GB/s, latency: 1 us}"),
      "toys.topo:6:39: error: 160 Gbps is more than the PCIe link of a 'toy' carries, 128 Gbps");
}

TEST(ClusterFileTest, MistakesInLinksOfAMesh) {
  const std::string mesh = "{kind: nvlink-mesh, bandwidth: 50 GB/s, latency: 1 us, ";
  EXPECT_EQ(ScaleUpMessage(mesh + "links: {0-2: 1}}"),
            "toys.topo:6:78: error: '0-2' is not a pair of GPUs; write '0-1'; GPUs are 0 to 1");
  EXPECT_EQ(ScaleUpMessage(mesh + "links: {0-0: 1}}"),
            "toys.topo:6:78: error: '0-0' is not a pair of GPUs; write '0-1'; GPUs are 0 to 1");
  EXPECT_EQ(ScaleUpMessage(mesh + "links: {0-1: 0}}"),
            "toys.topo:6:83: error: a pair of GPUs has 1 to 64 NVLinks, not '0'");
  EXPECT_EQ(ScaleUpMessage(mesh + "links: {0-1: 1, 1-0: 1}}"),
            "toys.topo:6:86: error: the links of GPUs 0 and 1 are given twice");
  EXPECT_EQ(ScaleUpMessage(mesh + "links: {0-1: 3}}"),
            "toys.topo:6:77: error: GPU 0 has 3 NVLinks, but 400 Gbps of scale-up bandwidth are 2");
  EXPECT_EQ(ScaleUpMessage(mesh + "wiring: cube-mesh}"),
            "toys.topo:6:78: error: a cube mesh joins 8 GPUs with 6 NVLinks each, not 2 with 2; "
            "give 'links'");
  EXPECT_EQ(ScaleUpMessage(mesh + "wiring: cube}"),
            "toys.topo:6:78: error: 'cube' is not a valid wiring; did you mean 'cube-mesh'?; valid "
            "values "
            "are even, cube-mesh");
  EXPECT_EQ(ScaleUpMessage(mesh + "wiring: even, links: {0-1: 1}}"),
            "toys.topo:6:91: error: give 'wiring' or 'links', not both");
  std::string text = testing::ToyClusterText();
  const size_t at = text.find("nvswitch, switches: 1");
  text.replace(at, 21, "nvlink-mesh");
  text.erase(text.find(", multicast: true"), 17);
  Result<ClusterInput> even = ParseCluster(text, "c", testing::ToyFiles());
  ASSERT_TRUE(even.ok()) << even.error().ToString();
  ASSERT_EQ(even->topology.host_kinds[0].scale_up.mesh.size(), 1u);
  EXPECT_EQ(even->topology.host_kinds[0].scale_up.mesh[0].count, 2);
  // The two links of a GPU do not divide evenly among three other GPUs.
  text.replace(text.find("gpus: 2"), 7, "gpus: 4");
  EXPECT_NE(ErrorText(ParseCluster(text, "c", testing::ToyFiles()))
                .find("2 NVLinks of a GPU cannot be shared evenly by 3 others; give 'wiring' or "
                      "'links'"),
            std::string::npos);
}

TEST(ClusterFileTest, MistakesInBoardAndTrays) {
  const std::string gpus = "gpus: 2";
  EXPECT_EQ(
      MessageWith(gpus, "gpus: 2\n    board: {cpu: ryzen}"),
      "toys.topo:6:18: error: 'ryzen' is not a valid cpu; valid values are epyc, xeon-broadwell, "
      "xeon-skylake, xeon-sapphire-rapids, xeon-emerald-rapids, grace");
  EXPECT_EQ(MessageWith(gpus, "gpus: 2\n    board: {sockets: 9}"),
            "toys.topo:6:22: error: 'sockets' is 9; it must be between 1 and 8");
  EXPECT_EQ(MessageWith(gpus, "gpus: 2\n    board: {gpus_per_switch: -1}"),
            "toys.topo:6:30: error: 'gpus_per_switch' is -1; it must be between 0 and 128");
  EXPECT_EQ(MessageWith(gpus, "gpus: 2\n    board: {c2c: 0 GB/s}"),
            "toys.topo:6:18: error: 'c2c' is 0 bps; it must be at least 1 Mbps");
  EXPECT_EQ(MessageWith(gpus, "gpus: 2\n    trays: 3"),
            "toys.topo:6:12: error: 2 GPUs cannot be shared evenly by 3 trays");
}

TEST(ClusterFileTest, MistakesInNics) {
  EXPECT_EQ(MessageWith("count: 2", "count: 129"),
            "toys.topo:7:19: error: 'count' is 129; it must be between 0 and 128");
  EXPECT_EQ(MessageWith("count: 2", "count: 3"),
            "toys.topo:7:19: error: 3 NICs cannot be shared evenly by 2 GPUs");
  EXPECT_EQ(MessageWith("count: 2", "count: 0"),
            "toys.topo:10:3: error: host 0 has no NIC, so it cannot reach the others");
  for (const char* pcie : {"gen2 x16", "gen7 x16", "gen4 x0", "gen4 x17", "gen4x16", "gen4", "x16",
                           "gen99999999999 x16", "gen4 x16 "}) {
    EXPECT_EQ(MessageWith("pcie: gen4 x8", std::string("pcie: '") + pcie + "'"),
              std::string("toys.topo:7:44: error: '") + pcie +
                  "' is not a PCIe link; write 'gen4 x16' (generations 3 to 6, 1 to 16 lanes)");
  }
}

TEST(ClusterFileTest, MistakesInFabricTransportAndNccl) {
  const std::string text = testing::ToyClusterText();
  const size_t begin = text.find("fabric:"), end = text.find("transport:");
  EXPECT_EQ(MessageWith(text.substr(begin, end - begin), ""),
            "toys.topo:1:1: error: several hosts need a 'fabric'");
  EXPECT_EQ(MessageWith(text.substr(begin, end - begin), "fabric:\n"),
            "toys.topo:10:1: error: 'fabric' must be a section of keys and values, found nothing");
  EXPECT_EQ(
      MessageWith("kind: infiniband", "kind: tcp"),
      "toys.topo:13:19: error: 'tcp' is not a valid kind; valid values are roce-v2, infiniband");
  EXPECT_EQ(MessageWith("mtu: 2048 B", "mtu: 100 B"),
            "toys.topo:13:36: error: 'mtu' is 100; it must be between 256 and 65535");
  EXPECT_EQ(MessageWith("packets_per_ack: 8", "flow_control: pcf"),
            "toys.topo:13:83: error: 'pcf' is not a valid flow_control; did you mean 'pfc'?; valid "
            "values "
            "are ideal, pfc, none, trim");
  EXPECT_EQ(MessageWith("packets_per_ack: 8", "packets_per_ack: 0"),
            "toys.topo:13:86: error: 'packets_per_ack' is 0; it must be between 1 and 65536");
  EXPECT_EQ(
      MessageWith("NCCL_ALGO", "ALGO"),
      "toys.topo:14:38: error: 'ALGO' is not an NCCL setting; names of settings begin with NCCL_");
  EXPECT_EQ(MessageWith("NCCL_ALGO: Ring", "NCCL_ALGO: [Ring]"),
            "toys.topo:14:49: error: expected a name, found a list");
  EXPECT_EQ(MessageWith("settings: {NCCL_CROSS_NIC: 2, NCCL_ALGO: Ring}", "settings: [NCCL_ALGO]"),
            "toys.topo:14:18: error: 'settings' must be a section of NCCL_... keys and values");
  EXPECT_EQ(MessageWith("settings", "setings"),
            "toys.topo:14:7: error: 'nccl' lacks the key 'settings'");
}

TEST(ClusterFileTest, MistakesInTransportAttributes) {
  const auto message = [](const std::string& attributes) {
    return MessageWith("packets_per_ack: 8", "attributes: {" + attributes + "}");
  };
  EXPECT_EQ(message("Dcqcn::Gane: 0.1"),
            "toys.topo:13:82: error: the packet network has no attribute 'Dcqcn::Gane'; did you "
            "mean 'Dcqcn::Gain'?");
  EXPECT_EQ(
      message("Dcqcn::Gain: much"),
      "toys.topo:13:95: error: attribute 'Dcqcn::Gain' is 'much'; it must be a number, from 0 "
      "to 1");
  EXPECT_EQ(message("Dcqcn::Gain: 1.5"),
            "toys.topo:13:95: error: attribute 'Dcqcn::Gain' is '1.5'; it must be a number, from 0 "
            "to 1");
  EXPECT_EQ(message("FabricSwitch::EcnMin: 500000"),
            "toys.topo:13:81: error: attribute 'FabricSwitch::EcnMin' must not exceed "
            "'FabricSwitch::EcnMax'");
  EXPECT_EQ(message("Dcqcn::AlphaInterval: 55"),
            "toys.topo:13:104: error: attribute 'Dcqcn::AlphaInterval' is '55'; it must be a time "
            "such as '55 us', from 1 ns to 1000 s");
  EXPECT_EQ(message("FabricSwitch::EcnAtDequeue: yes"),
            "toys.topo:13:110: error: attribute 'FabricSwitch::EcnAtDequeue' is 'yes'; it must be "
            "true or false");
  EXPECT_EQ(message("RdmaTransport::Mtu: 1000"),
            "toys.topo:13:82: error: attribute 'RdmaTransport::Mtu' cannot be set: 'mtu' of the "
            "transport decides it");
}

TEST(ClusterFileTest, RejectsLatenciesAboveOneSecond) {
  EXPECT_EQ(MessageWith("pcie: gen4 x8, latency: ", "pcie: gen4 x8, latency: 2 s, message: "),
            "toys.topo:7:62: error: 'latency' is 2 s; it must be at most 1 s");
}

TEST(ClusterFileTest, ReportsAllMistakesAtOnce) {
  std::string text = testing::ToyClusterText();
  text.replace(text.find("gpus: 2"), 7, "gpus: many");
  text.replace(text.find("count: 2"), 8, "cuont: 2");
  text.replace(text.find("mtu: 2048 B"), 11, "mtu: 2048");
  const Result<ClusterInput> cluster = ParseCluster(text, "toys.topo", testing::ToyFiles());
  ASSERT_FALSE(cluster.ok());
  std::vector<std::string> messages;
  for (const Diagnostic& d : cluster.error().diagnostics()) {
    messages.push_back(std::to_string(d.location.line) + ": " + d.message);
  }
  EXPECT_EQ(
      messages,
      std::vector<std::string>(
          {"5: 'many' is not a whole number", "7: 'nics' lacks the key 'count'",
           "7: unknown key 'cuont' in 'nics'; did you mean 'count'?; valid keys are count, rate, "
           "ports, pcie, latency, message",
           "13: '2048' has no unit; valid units are B, KB, MB, GB, TB, KiB, MiB, "
           "GiB, as in '80 GB'"}));
}

TEST(ClusterFileTest, RecognizesOverridesOfTheCluster) {
  EXPECT_TRUE(IsClusterOverride("cluster.hosts=8"));
  EXPECT_TRUE(IsClusterOverride("nccl={settings: {}}"));
  EXPECT_TRUE(IsClusterOverride("transport.mtu=1 KB"));
  EXPECT_FALSE(IsClusterOverride("model.layers=8"));
  EXPECT_FALSE(IsClusterOverride("clusters.hosts=8"));
  EXPECT_FALSE(IsClusterOverride(""));
  EXPECT_TRUE(CheckClusterOverrides({"cluster.hosts=8", "transport.mtu=1 KB"}).ok());
  EXPECT_EQ(CheckClusterOverrides({"cluster.hosts=8", "clusters.hosts=8"}).error().message(),
            "--set clusters.hosts=8: no such section; sections are cluster, hosts, fabric, "
            "transport, faults, jitter, nccl, cost, storage (cluster.topo)");
}

std::string WithNics(const std::string& nics, const std::string& more) {
  std::string text = testing::ToyClusterText();
  const std::string old_nics = "{count: 2, rate: 100 Gbps,";
  text.replace(text.find(old_nics), old_nics.size(), "{" + nics + ",");
  const std::string kind = "  kind: rail-optimised\n";
  text.replace(text.find(kind), kind.size(), kind + more);
  return text;
}

// NCCL joins the ports of a NIC to one device.
TEST(ClusterFileTest, ANicHasTheRateOfItsPorts) {
  const auto topology = [](const std::string& nics, const std::string& more) {
    const Result<ClusterInput> cluster =
        ParseCluster(WithNics(nics, more), "toys.topo", testing::ToyFiles());
    return cluster.ok() ? cluster->topology : Topology();
  };
  EXPECT_EQ(topology("count: 2, ports: 2, rate: 50 Gbps", ""), testing::ToyCluster().topology);
  const Topology planes = topology("count: 2, ports: 2, rate: 100 Gbps", "  planes: 2\n");
  EXPECT_EQ(planes.host_kinds[0].nics.count, 2);
  EXPECT_EQ(planes.host_kinds[0].nics.rate.bits_per_second(), 200'000'000'000);
  const Result<ClusterInput> halved = ParseCluster(
      WithNics("count: 2, ports: 2, rate: 100 Gbps", ""), "toys.topo", testing::ToyFiles());
  ASSERT_FALSE(halved.ok());
  EXPECT_THAT(halved.error().ToString(),
              ::testing::HasSubstr(
                  "toys.topo:7:29: error: the ports of a NIC carry 200 Gbps together, and its "
                  "cables 100 Gbps; write the sum as 'rate' of the switches (the cables of a "
                  "NIC are one), or 'planes: 2' for a fabric on each port"));
  const Result<ClusterInput> many = ParseCluster(WithNics("count: 2, ports: 9, rate: 100 Gbps", ""),
                                                 "toys.topo", testing::ToyFiles());
  EXPECT_THAT(many.error().ToString(),
              ::testing::HasSubstr("'ports' is 9; it must be between 1 and 4"));
}

}  // namespace
}  // namespace drydock
