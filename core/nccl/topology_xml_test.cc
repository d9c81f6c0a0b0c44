#include "core/nccl/topology_xml.h"

#include <gtest/gtest.h>

#include <set>

#include "core/nccl/test_hosts.h"

namespace drydock {
namespace {

int Occurrences(const std::string& text, const std::string& word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(TopologyXmlTest, DgxH100HasOneGpuAndNicPerSwitchAndEighteenNvlinks) {
  const auto host = DescribeHost(DgxH100(), TestGpu(90));
  ASSERT_TRUE(host.ok());
  EXPECT_EQ(Occurrences(host->xml, "<gpu "), 8);
  EXPECT_EQ(Occurrences(host->xml, "<net "), 8);
  EXPECT_EQ(Occurrences(host->xml, "class=\"0x060400\""), 8);
  EXPECT_EQ(Occurrences(host->xml, "count=\"5\""), 16);  // two of the four switches
  EXPECT_EQ(Occurrences(host->xml, "count=\"4\""), 16);
  EXPECT_EQ(Occurrences(host->xml, "32.0 GT/s PCIe"), 24);
  EXPECT_TRUE(host->multicast);
}

TEST(TopologyXmlTest, DgxA100HasTwoGpusAndTwoNicsPerSwitch) {
  const auto host = DescribeHost(DgxA100(), TestGpu(80));
  ASSERT_TRUE(host.ok());
  EXPECT_EQ(Occurrences(host->xml, "class=\"0x060400\""), 4);
  EXPECT_EQ(Occurrences(host->xml, "<net "), 8);
  EXPECT_EQ(Occurrences(host->xml, "count=\"2\""), 8 * 6);
  EXPECT_EQ(host->nics[7].speed_mbps, 200000);
}

TEST(TopologyXmlTest, FourNicsServeTwoGpusEach) {
  const auto host = DescribeHost(DgxA100(4), TestGpu(80));
  ASSERT_TRUE(host.ok());
  // On each switch: two GPUs, one NIC.
  EXPECT_EQ(Occurrences(host->xml, "<net "), 4);
  const size_t second_switch = host->xml.find(host->gpu_bus_ids[2]);
  EXPECT_LT(host->xml.find("mlx5_0"), second_switch);
  EXPECT_GT(host->xml.find("mlx5_1"), second_switch);
}

TEST(TopologyXmlTest, ReadsBackWhatItWrites) {
  const auto host = DescribeHost(DgxA100(), TestGpu(80));
  ASSERT_TRUE(host.ok());
  const auto parsed = ParseTopologyXml(host->xml);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->gpu_bus_ids, host->gpu_bus_ids);
  ASSERT_EQ(parsed->nics.size(), 8u);
  for (size_t n = 0; n < 8; ++n) {
    EXPECT_EQ(parsed->nics[n].name, host->nics[n].name);
    EXPECT_EQ(parsed->nics[n].bus_id, host->nics[n].bus_id);
    EXPECT_EQ(parsed->nics[n].speed_mbps, 200000);
  }
  const std::set<std::string> distinct(host->gpu_bus_ids.begin(), host->gpu_bus_ids.end());
  EXPECT_EQ(distinct.size(), 8u);
}

// More devices than a slot of eight bus numbers holds, more slots than 256 bus numbers hold.
TEST(TopologyXmlTest, LargeHostsHaveDistinctBusIds) {
  HostKind many_nics = DgxA100(64), rack = DgxH100();
  rack.gpus = rack.nics.count = 72;
  for (const HostKind& kind : {many_nics, rack}) {
    const auto host = DescribeHost(kind, TestGpu(90));
    ASSERT_TRUE(host.ok());
    std::set<std::string> distinct(host->gpu_bus_ids.begin(), host->gpu_bus_ids.end());
    for (const NcclHost::Nic& nic : host->nics) distinct.insert(nic.bus_id);
    EXPECT_EQ(distinct.size(), static_cast<size_t>(kind.gpus + kind.nics.count));
    for (const std::string& id : distinct) {
      EXPECT_EQ(id.size(), 12u) << id;
      EXPECT_EQ(Occurrences(host->xml, "<pci busid=\"" + id), 1) << id;
    }
  }
}

TEST(TopologyXmlTest, TakesADumpedXmlAsItIs) {
  HostKind kind = DgxH100();
  kind.gpus = 1;
  kind.nics.count = 1;
  kind.nccl_topology_xml =
      "<?xml version=\"1.0\"?>\n<!-- dumped -->\n<system version=\"1\"><cpu numaid=\"0\">"
      "<pci busid=\"0000:1b:00.0\" class=\"0x030200\"><gpu dev=\"0\" sm=\"90\"/></pci>"
      "<pci busid=\"0000:18:00.0\" class=\"0x020700\"><nic>"
      "<net name=\"mlx5_4\" dev=\"0\" speed=\"400000\"/></nic></pci></cpu></system>";
  const auto host = DescribeHost(kind, TestGpu(90));
  ASSERT_TRUE(host.ok());
  EXPECT_EQ(host->gpu_bus_ids, std::vector<std::string>{"0000:1b:00.0"});
  EXPECT_EQ(host->nics[0].name, "mlx5_4");
  EXPECT_EQ(host->nics[0].bus_id, "0000:18:00.0");
  EXPECT_EQ(host->xml, kind.nccl_topology_xml);

  kind.gpus = 8;
  const auto mismatch = DescribeHost(kind, TestGpu(90));
  ASSERT_FALSE(mismatch.ok());
  EXPECT_EQ(mismatch.error().message(),
            "host 'dgx-h100' has 8 GPUs and 1 NICs, its NCCL topology XML 1 and 1");
}

TEST(TopologyXmlTest, RefusesBandwidthThatIsNoWholeNumberOfLinks) {
  HostKind kind = DgxH100();
  kind.scale_up.bandwidth = GigabitsPerSecond(3601);
  const auto host = DescribeHost(kind, TestGpu(90));
  ASSERT_FALSE(host.ok());
  EXPECT_NE(host.error().message().find("is not a whole number of NVLinks of"), std::string::npos);
}

}  // namespace
}  // namespace drydock
