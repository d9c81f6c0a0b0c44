// "What do SimAI's network settings decide?"
#include <gtest/gtest.h>

#include <map>

#include "core/base/files.h"
#include "core/schema/cluster/cluster_file.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;

class SimaiConfTest : public ::testing::Test {
 protected:
  SimaiConfTest() {
    // Two servers of two GPUs, NICs of 400 Gb/s, two leaves, and a spine behind 100 Gb/s.
    Write("topology",
          "9 2 2 3 12 H100\n4 5 6 7 8\n"
          "0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 0.000025ms 0\n"
          "2 5 2880Gbps 0.000025ms 0\n3 5 2880Gbps 0.000025ms 0\n"
          "0 6 400Gbps 0.0005ms 0\n1 6 400Gbps 0.0005ms 0\n"
          "2 7 400Gbps 0.0005ms 0\n3 7 400Gbps 0.0005ms 0\n"
          "6 8 100Gbps 0.001ms 0\n7 8 100Gbps 0.001ms 0\n"
          "6 8 100Gbps 0.001ms 0\n7 8 100Gbps 0.001ms 0\n");
  }
  void Write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(WriteFileAtomically(folder_ / name, text).ok());
  }
  // Loads the topology with these settings beside it.
  Result<ClusterInput> Load(const std::string& conf, std::vector<std::string> overrides = {}) {
    Write("SimAI.conf", conf);
    return LoadCluster(folder_ / "topology", overrides);
  }
  std::string Mistake(const std::string& conf) {
    std::string text = ErrorText(Load(conf));
    const std::string path = folder_ / "SimAI.conf";
    const size_t at = text.find(path);
    return at == std::string::npos ? text : text.replace(at, path.size(), "SimAI.conf");
  }
  testing::TemporaryDirectory folder_;
};

std::map<std::string, std::string> AttributesOf(const ClusterInput& cluster) {
  return {cluster.topology.transport.attributes.begin(),
          cluster.topology.transport.attributes.end()};
}

TEST_F(SimaiConfTest, DecidesTheTransport) {
  const Result<ClusterInput> cluster = Load(
      "ENABLE_QCN 1\nPACKET_PAYLOAD_SIZE 9000\nCC_MODE 1\nALPHA_RESUME_INTERVAL 1\n"
      "RATE_DECREASE_INTERVAL 4\nRP_TIMER 900 \nEWMA_GAIN 0.00390625\nFAST_RECOVERY_TIMES 1\n"
      "RATE_AI 50Mb/s\nRATE_HAI 100Mb/s\nMIN_RATE 100Mb/s\nL2_ACK_INTERVAL 1\nHAS_WIN 1\n"
      "ACK_HIGH_PRIO 1\nKMIN_MAP 2 100000000000 400 400000000000 800\nBUFFER_SIZE 32\n"
      "LINK_DOWN 20 6 8\nFLOW_FILE a.txt\nU_TARGET 0.95\nPINT_PROB 1.0\n");
  ASSERT_TRUE(cluster.ok()) << cluster.error().ToString();
  const Transport& transport = cluster->topology.transport;
  EXPECT_EQ(transport.kind, TransportKind::kRoceV2);
  EXPECT_EQ(transport.mtu, Bytes(9000));
  EXPECT_EQ(transport.packets_per_ack, 1);
  EXPECT_EQ(transport.congestion_control, CongestionControl::kDcqcn);
  EXPECT_EQ(transport.flow_control, FlowControl::kPfc);
  EXPECT_EQ(cluster->topology.fabric.switches[0].buffer, Bytes(32 * 1024 * 1024));
  // RATE_AI is that of a port of 400 Gb/s, and Drydock's that of one of 25: 50 / 16. EcnMin too:
  // 800 KB / 16.
  const std::map<std::string, std::string> expected = {{"Dcqcn::AdditiveIncrease", "3125000 bps"},
                                                       {"Dcqcn::AlphaInterval", "1 us"},
                                                       {"Dcqcn::DecreaseInterval", "4 us"},
                                                       {"Dcqcn::FastRecoveries", "1"},
                                                       {"Dcqcn::Gain", "0.00390625"},
                                                       {"Dcqcn::HyperIncrease", "6250000 bps"},
                                                       {"Dcqcn::IncreaseInterval", "900 us"},
                                                       {"Dcqcn::MinRate", "100000000 bps"},
                                                       {"FabricSwitch::EcnMin", "50000"},
                                                       {"RdmaTransport::AckPriority", "6"},
                                                       {"RdmaTransport::WindowBdp", "1"}};
  EXPECT_EQ(AttributesOf(*cluster), expected);
  ASSERT_EQ(cluster->topology.faults.size(), 1u);
  EXPECT_EQ(cluster->topology.faults[0].at, Time::Us(20));
  EXPECT_EQ(cluster->topology.faults[0].links.size(), 2u);
  const std::vector<std::string> notes = {
      "SimAI.conf beside the topology is read; --set fabric.conf=FILE names another file",
      "SimAI.conf: KMIN_MAP: ports of 100 Gbps have 200, not 400: the value of 400 Gbps, that of a "
      "NIC, counts for all in proportion to the rate",
      "SimAI.conf: without effect here: FLOW_FILE, PINT_PROB, U_TARGET"};
  EXPECT_EQ(cluster->notes, notes);
}

TEST_F(SimaiConfTest, TheIncreaseOfHpccIsARateTimesTheRoundTrip) {
  const Result<ClusterInput> cluster =
      Load("CC_MODE 3\nMULTI_RATE 0\nRATE_AI 50Mb/s\nPACKET_PAYLOAD_SIZE 1000\nU_TARGET 0.9\n");
  ASSERT_TRUE(cluster.ok()) << cluster.error().ToString();
  // The longest path: 2 x (0.5 + 1 + 1 + 0.5) us, and 8000 bits at 400, 100, 100 and 400 Gb/s: 200
  // ns. 50 Mb/s x 6.2 us = 310 bits.
  EXPECT_EQ(AttributesOf(*cluster)["Hpcc::AdditiveIncrease"], "39");
  EXPECT_EQ(AttributesOf(*cluster)["Hpcc::Target"], "0.9");
}

TEST_F(SimaiConfTest, SettingsOfTheEnvironmentMayStandInTheirOwnFile) {
  Write("astra.params", "# as in our script\nexport AS_NVLS_ENABLE=1\nAS_PXN_ENABLE=1\n");
  const Result<ClusterInput> cluster =
      Load("CC_MODE 8\n", {"transport.mtu=2048 B", "nccl.settings.NCCL_PXN_DISABLE=1"});
  ASSERT_TRUE(cluster.ok()) << cluster.error().ToString();
  EXPECT_EQ(cluster->topology.transport.congestion_control, CongestionControl::kDctcp);
  EXPECT_EQ(cluster->topology.transport.mtu, Bytes(2048));  // --set counts most
  const std::vector<std::pair<std::string, std::string>> settings = {
      {"NCCL_ALGO", "^nvlstree"}, {"NCCL_NVLS_ENABLE", "1"}, {"NCCL_PXN_DISABLE", "1"}};
  EXPECT_EQ(cluster->topology.nccl_settings, settings);
}

TEST_F(SimaiConfTest, AClusterFileNamesItAndKeepsItsOwnKeys) {
  Write("other.conf", "CC_MODE 7\nPACKET_PAYLOAD_SIZE 9000\n");
  Write("mine.topo",
        "cluster: {host: a, hosts: 2}\n"
        "hosts:\n  a:\n    gpu: h100-sxm-80g\n    gpus: 2\n"
        "    scale_up: {kind: nvswitch, switches: 4, bandwidth: 450 GB/s, latency: 600 ns}\n"
        "    nics: {count: 2, rate: 400 Gbps, pcie: gen5 x16, latency: 600 ns}\n"
        "fabric: {kind: simai, file: topology, switch_latency: 1 us, switch_buffer: 1 MB, "
        "conf: other.conf}\n"
        "transport: {mtu: 1024 B}\n");
  const Result<ClusterInput> cluster = LoadCluster(folder_ / "mine.topo", {});
  ASSERT_TRUE(cluster.ok()) << cluster.error().ToString();
  EXPECT_EQ(cluster->topology.transport.mtu, Bytes(1024));
  EXPECT_EQ(cluster->topology.transport.congestion_control, CongestionControl::kTimely);
  EXPECT_EQ(cluster->topology.fabric.switches[0].buffer, Bytes(1'000'000));
}

TEST_F(SimaiConfTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(Mistake("CC_MOD 1\n"),
            "SimAI.conf:1:1: error: SimAI has no setting 'CC_MOD'; did you mean 'CC_MODE'?\n"
            "  CC_MOD 1\n  ^");
  EXPECT_EQ(Mistake("CC_MODE 10\n"),
            "SimAI.conf:1:1: error: CC_MODE 10 is HPCC-PINT, which Drydock has no model of; modes "
            "are 1 (DCQCN), 3 (HPCC), 7 (TIMELY) and 8 (DCTCP)\n  CC_MODE 10\n  ^");
  EXPECT_EQ(Mistake("KMAX_MAP 1 400000000000 800\n"),
            "SimAI.conf:1:1: error: 'KMAX_MAP' has no value for 100 Gbps, a rate of the topology's "
            "links; SimAI needs one for each\n  KMAX_MAP 1 400000000000 800\n  ^");
  EXPECT_EQ(Mistake("ERROR_RATE_PER_LINK 0.001\n"),
            "SimAI.conf:1:1: error: ERROR_RATE_PER_LINK counts packets; write 'bit_errors' under "
            "'faults'\n  ERROR_RATE_PER_LINK 0.001\n  ^");
  EXPECT_EQ(
      Mistake("RATE_AI 50\n"),
      "SimAI.conf:1:1: error: 'RATE_AI' is a rate such as 50Mb/s, not '50'\n  RATE_AI 50\n  ^");
  EXPECT_EQ(Mistake("BUFFER_SIZE many\n"),
            "SimAI.conf:1:1: error: 'BUFFER_SIZE' is a number from 1 to 4095, not 'many'\n"
            "  BUFFER_SIZE many\n  ^");
}

}  // namespace
}  // namespace drydock
