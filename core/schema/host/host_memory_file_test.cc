#include "core/schema/host/host_memory_file.h"

#include <gtest/gtest.h>

#include "core/base/files.h"
#include "core/schema/testing/workload_testing.h"

namespace drydock {
namespace {

constexpr const char* kPath = "configs/host-memory.yaml";

std::string Cluster(const std::string& memory) {
  std::string text = testing::ToyClusterText();
  const std::string after = "    gpus: 2\n";
  text.insert(text.find(after) + after.size(), "    memory: " + memory + "\n");
  return text;
}

std::string ClusterError(const std::string& memory) {
  const auto cluster = ParseCluster(Cluster(memory), "toys.topo", testing::ToyFiles());
  return cluster.ok() ? "ok" : cluster.error().ToString();
}

TEST(HostMemoryFileTest, ShippedFileHasEveryProcessor) {
  const auto defaults = ParseHostMemoryFile(*ReadFile(kPath), kPath);
  ASSERT_TRUE(defaults.ok()) << defaults.error().ToString();
  HostKind kind;
  for (const std::string& cpu : CpuNames()) {
    kind.board.cpu = cpu;
    EXPECT_TRUE(IsComplete(WithDefaults(kind, GpuSpec(), *defaults))) << cpu;
  }
  // A socket of a DGX H100 has 8 channels of DDR5-4800, each 8 B wide.
  GpuSpec hopper;
  hopper.compute_capability = 90;
  EXPECT_EQ(WithDefaults(HostKind(), hopper, *defaults).bandwidth,
            Bandwidth::FromBytesPerSecond(8 * 4800e6 * 8));
}

TEST(HostMemoryFileTest, ClusterOverridesDefaults) {
  const auto defaults = ParseHostMemoryFile(*ReadFile(kPath), kPath);
  const auto cluster = ParseCluster(
      Cluster("{bandwidth: 50 GB/s, copy_latency: 0 us, remote: {sharing: pool, bandwidth: 1 GB/s, "
              "latency: 3 us}}"),
      "toys.topo", testing::ToyFiles());
  ASSERT_TRUE(cluster.ok()) << cluster.error().ToString();
  const Topology& topology = cluster->topology;
  const HostMemory memory = WithDefaults(topology.host_kinds[0], topology.gpus[0], *defaults);
  EXPECT_EQ(memory.bandwidth, Bandwidth::FromBytesPerSecond(50e9));
  EXPECT_EQ(memory.latency, Time());
  EXPECT_EQ(memory.copy_efficiency, defaults->rest.copy_efficiency);
  EXPECT_EQ(memory.remote.sharing, RemoteSharing::kPool);
  EXPECT_EQ(memory.remote.latency, Time::Us(3));
}

TEST(HostMemoryFileTest, MistakesShowTheirPlace) {
  EXPECT_EQ(
      ClusterError("{copy_efficiency: 1.5}"),
      "toys.topo:6:31: error: 'copy_efficiency' is 1.5; it is a share, above 0 and at most 1\n"
      "      memory: {copy_efficiency: 1.5}\n"
      "                                ^");
  EXPECT_NE(ClusterError("{bandwith: 1 GB/s}").find("did you mean 'bandwidth'?"),
            std::string::npos);
  const std::string remote = ClusterError("{remote: {sharing: per-node, bandwidth: 1 GB/s}}");
  EXPECT_NE(remote.find("'per-node'"), std::string::npos) << remote;
  EXPECT_NE(remote.find("latency"), std::string::npos) << remote;
  const auto file = ParseHostMemoryFile("host_memory: {copy: {efficiency: 0}}", "f.yaml");
  ASSERT_FALSE(file.ok());
  const std::string text = file.error().ToString();
  for (const char* part : {"sockets", "optimizer", "'efficiency' is 0", "source"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

}  // namespace
}  // namespace drydock
