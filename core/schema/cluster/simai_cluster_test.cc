// "Is a topology file of SimAI a cluster?"
#include <gtest/gtest.h>

#include "core/base/files.h"
#include "core/schema/cluster/cluster_file.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;

class SimaiClusterTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& text) {
    EXPECT_TRUE(WriteFileAtomically(folder_ / "Spectrum_4g", text).ok());
    return folder_ / "Spectrum_4g";
  }
  testing::TemporaryDirectory folder_;
};

// Two servers of two GPUs; each GPU has two cables, one to each of two switches.
std::string Topology(const std::string& gpu) {
  std::string text = "8 2 2 2 12 " + gpu + "\n4 5 6 7\n";
  for (int g = 0; g < 4; ++g) {
    text += std::to_string(g) + " " + std::to_string(4 + g / 2) + " 2880Gbps 0.000025ms 0\n";
    for (const char* to : {" 6", " 7"}) {
      text += std::to_string(g) + to + " 100Gbps 0.0005ms 0\n";
    }
  }
  return text;
}

TEST_F(SimaiClusterTest, HostsAreThoseOfTheShippedClusterOfTheGpu) {
  const Result<ClusterInput> cluster = LoadCluster(Write(Topology("A100")), {});
  ASSERT_TRUE(cluster.ok()) << cluster.error().ToString();
  const drydock::Topology& topology = cluster->topology;
  EXPECT_EQ(topology.name, "Spectrum_4g");
  EXPECT_EQ(topology.host_count(), 2);
  const HostKind& kind = topology.host_kinds[0];
  EXPECT_EQ(kind.gpus, 2);
  EXPECT_EQ(kind.nics.count, 2);
  EXPECT_EQ(kind.nics.rate.bits_per_second(), 200'000'000'000);
  EXPECT_EQ(kind.scale_up.bandwidth.bits_per_second(), 2'400'000'000'000);  // of a DGX A100
  EXPECT_EQ(topology.fabric.switches.size(), 2u);
  EXPECT_EQ(topology.fabric.links.size(), 8u);
}

TEST_F(SimaiClusterTest, EveryGpuOfSimaiHasACluster) {
  for (const char* gpu : {"A100", "A800", "H100", "H800", "H20", "H200", "B200"}) {
    const Result<ClusterInput> cluster = LoadCluster(Write(Topology(gpu)), {"cluster.name=x"});
    ASSERT_TRUE(cluster.ok()) << gpu << cluster.error().ToString();
    EXPECT_EQ(cluster->topology.name, "x");
  }
}

TEST_F(SimaiClusterTest, ReportsWhatItCannotRead) {
  const std::string unknown = Write(Topology("H10"));
  EXPECT_EQ(ErrorText(LoadCluster(unknown, {})),
            unknown +
                ":1: error: there is no cluster with the GPU 'H10' of this topology; did you mean "
                "'H100'?; known are A100, A800, B200, H100, H20, H200, H800; write a cluster file "
                "with 'fabric: {kind: simai, file: Spectrum_4g}'");
  const std::string odd = Write("9 2 2 2 0 A100\n5 6 7 8\n");
  EXPECT_EQ(ErrorText(LoadCluster(odd, {})),
            odd + ":1: error: 5 GPUs are no whole number of servers with 2 each");
  const std::string alone = Write("8 2 2 2 0 A100\n4 5 6 7\n");
  EXPECT_EQ(ErrorText(LoadCluster(alone, {})),
            alone + ":1: error: GPU 0 has no link to a switch outside its server");
}

}  // namespace
}  // namespace drydock
