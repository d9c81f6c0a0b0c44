// "Does what nvidia-smi prints of a host become that host?"
#include "core/schema/inventory/gpu_matrix.h"

#include <gtest/gtest.h>

#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;
using testing::FirstLine;

const Bandwidth kLink = Bandwidth::BitsPerSecond(200'000'000'000);

YamlNode Base() {
  return *ParseYaml(
      "cluster: {name: base, host: dgx, hosts: 8}\nhosts:\n  dgx:\n    gpu: g\n    gpus: 8\n"
      "    scale_up: {kind: nvswitch, switches: 4, bandwidth: 450 GB/s, latency: 600 ns, "
      "multicast: "
      "true}\n    nics: {count: 8, rate: 400 Gbps}\n",
      "base.topo");
}

std::string Host(const std::string& matrix) {
  const Result<GpuMatrix> parsed = ParseGpuMatrix(matrix, "topo.txt");
  EXPECT_TRUE(parsed.ok()) << parsed.error().ToString();
  const Result<ClusterText> cluster = ClusterOfGpuMatrix(*parsed, Base(), kLink, "mine");
  EXPECT_TRUE(cluster.ok()) << cluster.error().ToString();
  std::string text = cluster->text;
  for (const std::string& note : cluster->notes) text += "# " + note + "\n";
  return text;
}

TEST(GpuMatrixTest, NvSwitchesNicsAndSockets) {
  EXPECT_EQ(
      Host("\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tNIC2\tCPU Affinity\tNUMA Affinity\x1b[0m\n"
           "GPU0\t X \tNV18\tNV18\tNV18\tPXB\tSYS\tNODE\t0-47\t0\t\tN/A\n"
           "GPU1\tNV18\t X \tNV18\tNV18\tPXB\tSYS\tNODE\t0-47\t0\t\tN/A\n"
           "GPU2\tNV18\tNV18\t X \tNV18\tSYS\tPIX\tSYS\t48-95\t1\t\tN/A\n"
           "GPU3\tNV18\tNV18\tNV18\t X \tSYS\tPIX\tSYS\t48-95\t1\t\tN/A\n"
           "NIC0\tPXB\tPXB\tSYS\tSYS\t X \tSYS\tNODE\n"
           "\nLegend:\n\n  X    = Self\n\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_3\n  NIC2: "
           "mlx5_bond_0\n"),
      "cluster: {name: 'mine', host: 'dgx', hosts: 1}\nhosts:\n  'dgx': {'gpu': 'g', 'gpus': '4', "
      "'scale_up': {'kind': 'nvswitch', 'switches': '4', 'bandwidth': '3.6 Tbps', 'latency': '600 "
      "ns', 'multicast': 'true'}, 'nics': {'count': '2', 'rate': '400 Gbps'}, 'board': "
      "{'gpus_per_switch': '2', 'sockets': '2'}}\n"
      "# 18 NVLinks from each GPU into NVSwitches\n"
      "# left out: 1 NIC without a GPU on their PCIe switch (mlx5_bond_0)\n");
}

TEST(GpuMatrixTest, AMeshOfNvLinks) {
  EXPECT_EQ(
      Host("     GPU0 GPU1 GPU2\nGPU0 X NV4 NV2\nGPU1 NV4 X SYS\nGPU2 NV2 SYS X\n"),
      "cluster: {name: 'mine', host: 'dgx', hosts: 1}\nhosts:\n  'dgx': {'gpu': 'g', 'gpus': "
      "'3', 'scale_up': {'kind': 'nvlink-mesh', 'bandwidth': '1.2 Tbps', 'latency': '600 ns', "
      "'links': {'0-1': '4', '0-2': '2'}}, 'nics': {'count': '8', 'rate': '400 Gbps'}}\n"
      "# NVLinks from GPU to GPU\n"
      "# no NIC is on a PCIe switch with a GPU; those of --host stay\n");
}

TEST(GpuMatrixTest, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorText(ParseGpuMatrix("Mon Nov 23\n", "t.txt")),
            "t.txt: error: this is not what 'nvidia-smi topo -m' prints: no line begins with GPU0");
  EXPECT_EQ(FirstLine(ErrorText(ParseGpuMatrix("  GPU0 GPU1\nGPU0 X NW18\n", "t.txt"))),
            "t.txt:2: error: 'NW18' is no connection; there are NV and a number, X, PIX, PXB, PHB, "
            "NODE, SYS");
  EXPECT_EQ(FirstLine(ErrorText(ParseGpuMatrix("  GPU0 GPU1\nGPU0 X\n", "t.txt"))),
            "t.txt:2: error: GPU0 has 1 columns, but the header has 2");
  const Result<GpuMatrix> pcie = ParseGpuMatrix("  GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX X\n", "t.txt");
  ASSERT_TRUE(pcie.ok());
  EXPECT_EQ(ErrorText(ClusterOfGpuMatrix(*pcie, Base(), kLink, "mine")),
            "error: the GPUs have no NVLink, but the hosts of --host do; name a cluster file whose "
            "hosts have 'scale_up: {kind: pcie}'");
}

}  // namespace
}  // namespace drydock
