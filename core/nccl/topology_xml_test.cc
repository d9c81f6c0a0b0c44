#include "core/nccl/topology_xml.h"

#include <gtest/gtest.h>

#include <set>

#include "core/nccl/testing/hosts_testing.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;
using testing::FirstLine;
using testing::Replaced;

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
  const auto parsed = ParseTopologyXml(host->xml, "host");
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

// More devices than a slot of eight bus numbers holds.
TEST(TopologyXmlTest, LargeHostsHaveDistinctBusIds) {
  HostKind many_nics = DgxA100(56), many_gpus = DgxA100(0);
  many_nics.scale_up.switches = 1;
  many_gpus.scale_up.switches = 1;
  many_gpus.gpus = 32;
  for (const HostKind& kind : {many_nics, many_gpus}) {
    const auto host = DescribeHost(kind, TestGpu(80));
    ASSERT_TRUE(host.ok()) << host.error().ToString();
    std::set<std::string> distinct(host->gpu_bus_ids.begin(), host->gpu_bus_ids.end());
    for (const NcclHost::Nic& nic : host->nics) distinct.insert(nic.bus_id);
    EXPECT_EQ(distinct.size(), static_cast<size_t>(kind.gpus + kind.nics.count));
    for (const std::string& id : distinct) {
      EXPECT_EQ(id.size(), 12u) << id;
      EXPECT_EQ(Occurrences(host->xml, "<pci busid=\"" + id), 1) << id;
    }
  }
  many_gpus.gpus = 33;
  EXPECT_EQ(
      ErrorText(DescribeHost(many_gpus, TestGpu(80))),
      "error: host 'dgx-a100' is too large for NCCL: 'dev' is '32': it must be a whole number "
      "from 0 to 31");
}

TEST(TopologyXmlTest, ACubeMeshHasTheNvlinksOfADgx1) {
  const auto host = DescribeHost(Dgx1V100(), TestGpu(70));
  ASSERT_TRUE(host.ok()) << host.error().ToString();
  const auto links = [&](int from, int to) {
    const size_t gpu = host->xml.find("<gpu dev=\"" + std::to_string(from) + "\"");
    const std::string one = host->xml.substr(gpu, host->xml.find("</gpu>", gpu) - gpu);
    const size_t at = one.find("target=\"" + host->gpu_bus_ids[static_cast<size_t>(to)]);
    if (at == std::string::npos) return 0;
    return one[one.find("count=\"", at) + 7] - '0';
  };
  // NCCL issue 671: GPU 0 of a DGX-1 has one link to 1 and 2, two to 3 and 4.
  EXPECT_EQ(links(0, 1), 1);
  EXPECT_EQ(links(0, 2), 1);
  EXPECT_EQ(links(0, 3), 2);
  EXPECT_EQ(links(0, 4), 2);
  EXPECT_EQ(links(0, 7), 0);
  for (int gpu = 0; gpu < 8; ++gpu) {
    int all = 0;
    for (int peer = 0; peer < 8; ++peer) {
      if (peer == gpu) continue;
      all += links(gpu, peer);
      EXPECT_EQ(links(gpu, peer), links(peer, gpu));
    }
    EXPECT_EQ(all, 6) << gpu;
  }
}

TEST(TopologyXmlTest, ATrayOfARackIsOneMachineAndTheRackHasAllItsGpus) {
  const auto host = DescribeHost(Gb200Rack(), TestGpu(100));
  ASSERT_TRUE(host.ok()) << host.error().ToString();
  EXPECT_EQ(host->trays, 18);
  EXPECT_EQ(host->gpu_bus_ids.size(), 72u);
  EXPECT_EQ(host->nics.size(), 72u);
  EXPECT_EQ(Occurrences(host->xml, "<gpu "), 4);
  EXPECT_EQ(Occurrences(host->xml, "count=\"18\" tclass=\"0x068000\""), 4);
  EXPECT_EQ(Occurrences(host->xml, "<c2c bw=\"225000\" count=\"1\"/>"), 4);
  EXPECT_EQ(Occurrences(host->xml, "arch=\"arm64\""), 2);
}

const char kDump[] =
    "<?xml version=\"1.0\"?>\n<!-- dumped -->\n<system version='1' name=\"x\">\n"
    "<cpu host_hash=\"0x12\" numaid=\"0\" arch=\"arm64\">\n"
    "<pci busid=\"00000000:1B:00.0\" class=\"0x030200\" link_speed=\"\" link_width=\"0\">\n"
    "<gpu dev=\"0\" sm=\"90\" rank=\"5\"/></pci>\n"
    "<pci busid=\"0000:18:00.0\" class=\"0x020700\"><nic>\n"
    "<net name=\"mlx5_4\" dev=\"0\" speed=\"400000\"/></nic></pci></cpu></system>\n";

TEST(TopologyXmlTest, RemovesTheDataOfTheProcessFromADump) {
  HostKind kind = DgxH100();
  kind.gpus = 1;
  kind.nics.count = 1;
  kind.nccl_topology_file = "dump.xml";
  kind.nccl_topology_xml = kDump;
  const auto host = DescribeHost(kind, TestGpu(90));
  ASSERT_TRUE(host.ok()) << host.error().ToString();
  EXPECT_EQ(host->gpu_bus_ids, std::vector<std::string>{"0000:1b:00.0"});
  EXPECT_EQ(host->nics[0].name, "mlx5_4");
  EXPECT_EQ(host->nics[0].bus_id, "0000:18:00.0");
  EXPECT_EQ(host->xml,
            "<system version=\"1\">\n"
            "  <cpu numaid=\"0\" arch=\"arm64\" vendor=\"\" familyid=\"\" modelid=\"\">\n"
            "    <pci busid=\"0000:1b:00.0\" class=\"0x030200\" link_speed=\"\" link_width=\"0\">\n"
            "      <gpu dev=\"0\" sm=\"90\"/>\n"
            "    </pci>\n"
            "    <pci busid=\"0000:18:00.0\" class=\"0x020700\" link_speed=\"\" link_width=\"\">\n"
            "      <nic>\n"
            "        <net name=\"mlx5_4\" dev=\"0\" speed=\"400000\"/>\n"
            "      </nic>\n"
            "    </pci>\n"
            "  </cpu>\n"
            "</system>\n");

  kind.gpus = 8;
  EXPECT_EQ(ErrorText(DescribeHost(kind, TestGpu(90))),
            "dump.xml: error: host 'dgx-h100' has 8 GPUs and 1 NICs, but its NCCL topology has 1 "
            "and 1");
}

// As Azure ships its topologies: where devices are, but not what they are.
TEST(TopologyXmlTest, CompletesDevicesFromTheKindOfHost) {
  HostKind kind = DgxH100();
  kind.gpus = kind.nics.count = 2;
  kind.nccl_topology_file = "nd.xml";
  const std::string gpu = "\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\"/>";
  const std::string nic = "\" class=\"0x020700\" link_speed=\"16 GT/s\" link_width=\"16\"/>";
  kind.nccl_topology_xml =
      "<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\" "
      "familyid=\"23\" modelid=\"49\"><pci busid=\"ffff:ff:01.0\" class=\"0x060400\">"
      "<pci busid=\"000d:00:00.0" +
      gpu + "<pci busid=\"0107:00:00.0" + nic + "<pci busid=\"0003:00:00.0" + gpu +
      "<pci busid=\"0103:00:00.0" + nic + "</pci></cpu></system>";
  const auto host = DescribeHost(kind, TestGpu(90));
  ASSERT_TRUE(host.ok()) << host.error().ToString();
  EXPECT_EQ(host->gpu_bus_ids, (std::vector<std::string>{"0003:00:00.0", "000d:00:00.0"}));
  EXPECT_EQ(host->nics[1].bus_id, "0107:00:00.0");
  EXPECT_EQ(host->nics[0].speed_mbps, 400000);
  EXPECT_EQ(Occurrences(host->xml, "sm=\"90\""), 2);
  EXPECT_EQ(Occurrences(host->xml, "tclass=\"0x068000\""), 2 * 4);  // four NVSwitches
  EXPECT_EQ(Occurrences(host->xml, "<net name=\"mlx5_1\" dev=\"1\""), 1);

  kind.gpus = 4;
  EXPECT_EQ(
      ErrorText(DescribeHost(kind, TestGpu(90))),
      "nd.xml: error: the NCCL topology has no <gpu> and 2 PCI devices that could be one, but "
      "host 'dgx-h100' has 4; write the numbers of this machine into the cluster file, or "
      "dump the file with NCCL_TOPO_DUMP_FILE");
}

// Returns the first line of the error of kDump with one piece of its text replaced.
std::string MessageWith(const std::string& from, const std::string& to) {
  return FirstLine(ErrorText(ParseTopologyXml(Replaced(kDump, from, to), "d.xml", 90)));
}

TEST(TopologyXmlTest, MalformedXmlIsRefusedWithItsPlace) {
  EXPECT_EQ(ErrorText(ParseTopologyXml("", "d.xml")),
            "d.xml: error: there is no element in the file");
  EXPECT_EQ(ErrorText(ParseTopologyXml("<system version=\"1\">", "d.xml")),
            "d.xml:1:1: error: <system> is not closed: the file ends in it\n"
            "  <system version=\"1\">\n"
            "  ^");
  EXPECT_EQ(MessageWith("</nic></pci></cpu></system>\n", "</ni"),
            "d.xml:8:44: error: this tag is not closed: the file ends in it");
  EXPECT_EQ(MessageWith("</nic></pci>", "</pci></nic>"),
            "d.xml:8:44: error: </pci> closes the <nic> of line 7");
  EXPECT_EQ(MessageWith("<!-- dumped -->", "<!-- dumped"),
            "d.xml:2:1: error: this comment is not closed");
  EXPECT_EQ(MessageWith("<cpu ", "4 <cpu "), "d.xml:4:1: error: expected an element: '<'");
  EXPECT_EQ(MessageWith("dev=\"0\"", "dev=0"),
            "d.xml:6:10: error: the value of an attribute must stand in quotes");
  EXPECT_EQ(MessageWith("dev=\"0\"", "dev=\"0"), "d.xml:6:17: error: this is not well-formed XML");
  EXPECT_EQ(MessageWith("sm=\"90\"", "dev=\"0\""), "d.xml:6:14: error: 'dev' is given twice");
  EXPECT_EQ(MessageWith("mlx5_4", std::string(300, 'x')),
            "d.xml:8:11: error: the value of 'name' is longer than 250 characters");
  EXPECT_EQ(MessageWith("mlx5_4", "a&b"), "d.xml:8:15: error: this is not well-formed XML");
  EXPECT_EQ(MessageWith("mlx5_4", "a&amp;b"),
            "d.xml:8:13: error: a value may not hold this character ('name')");
  EXPECT_EQ(MessageWith("mlx5_4", "a\u00e9b"),
            "d.xml:8:13: error: a value may not hold this character ('name')");
  EXPECT_EQ(MessageWith("</system>", "</system><system/>"),
            "d.xml:8:71: error: nothing may follow the end of <system>");
}

// "Billion laughs" and similar attacks: no entity can be declared, so none is expanded.
TEST(TopologyXmlTest, DeclarationsOfEntitiesAreRefused) {
  EXPECT_EQ(MessageWith("<!-- dumped -->",
                        "<!DOCTYPE system [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>"),
            "d.xml:2:1: error: a topology has no DOCTYPE");
  EXPECT_EQ(MessageWith("<!-- dumped -->", "<!DOCTYPE system SYSTEM \"file:///etc/passwd\">"),
            "d.xml:2:1: error: a topology has no DOCTYPE");
  EXPECT_EQ(MessageWith("mlx5_4", "&laughs;"),
            "d.xml:8:1: error: this is not well-formed XML: undefined entity");
  EXPECT_EQ(MessageWith("<nic>\n", "<nic><![CDATA[x]]>\n"),
            "d.xml:7:49: error: a topology has no CDATA");
}

TEST(TopologyXmlTest, LimitsHoldForHostileInput) {
  std::string deep, wide = "<system>";
  for (int i = 0; i < 100'000; ++i) deep += "<pci>";
  for (int i = 0; i < 10'001; ++i) wide += "<pci/>";
  const auto error = [](const std::string& xml) {
    return FirstLine(ErrorText(ParseTopologyXml(xml, "d.xml")));
  };
  EXPECT_EQ(error(deep), "d.xml:1:161: error: more than 32 levels");
  EXPECT_EQ(error(wide + "</system>"), "d.xml:1:60003: error: more than 10000 elements");
  EXPECT_EQ(error("<" + std::string(300, 'x') + "/>"),
            "d.xml:1:1: error: a name has 300 characters; 250 at most");
  EXPECT_EQ(error(std::string(5 << 20, ' ')),
            "d.xml: error: the file has 5242880 bytes; 4194304 at most");
}

TEST(TopologyXmlTest, ChecksValuesThatNcclDoesNotCheck) {
  EXPECT_EQ(MessageWith("version='1'", "version='2'"),
            "d.xml:3:9: error: 'version' is '2': it must be a whole number from 1 to 1");
  EXPECT_EQ(MessageWith("dev=\"0\" sm", "dve=\"0\" sm"),
            "d.xml:6:1: error: <gpu> lacks the attribute 'dev'");
  EXPECT_EQ(MessageWith("rank=\"5\"", "rnak=\"5\""),
            "d.xml:6:22: error: <gpu> has no attribute 'rnak'; did you mean 'rank'?; it may have "
            "dev, sm, rank, gdr, keep");
  EXPECT_EQ(
      MessageWith("<nic>\n<net", "<net/><nic>\n<net"),
      "d.xml:7:44: error: <pci> cannot hold <net>; did you mean 'nic'?; it may hold pci, gpu, "
      "nic, pcilink");
  EXPECT_EQ(MessageWith("sm=\"90\"", "sm=\"80\""),
            "d.xml:6:1: error: this GPU has compute capability 80, the GPU of the cluster file 90");
  EXPECT_EQ(MessageWith("arch=\"arm64\"", "arch=\"x86_64\""),
            "d.xml:4:1: error: an x86_64 <cpu> needs a 'vendor'");
  EXPECT_EQ(MessageWith("arch=\"arm64\"", "arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\""),
            "d.xml:4:1: error: a <cpu> of Intel needs a 'modelid'");
  EXPECT_EQ(MessageWith("0000:18:00.0", "0000:1b:00.0"),
            "d.xml:7:1: error: another <pci> has the busid '0000:1b:00.0' already");
  EXPECT_EQ(MessageWith("0000:18:00.0", "18:00.0"),
            "d.xml:7:6: error: 'busid' is '18:00.0': a bus id looks like '0000:1b:00.0'");
  EXPECT_EQ(MessageWith("link_speed=\"\"", "link_speed=\"fast\""),
            "d.xml:5:48: error: 'link_speed' is 'fast': a PCIe speed looks like '16.0 GT/s PCIe'");
  EXPECT_EQ(MessageWith("speed=\"400000\"", "speed=\"99999999999\""),
            "d.xml:8:28: error: 'speed' is '99999999999': it must be a whole number from -1 to "
            "100000000");
  EXPECT_EQ(MessageWith("rank=\"5\"/>",
                        "><nvlink target=\"0000:1b:00.0\" count=\"1\" tclass=\"0x030200\"/></gpu>"),
            "d.xml:6:23: error: the target of this <nvlink> is not another GPU");
  EXPECT_EQ(MessageWith("rank=\"5\"/>",
                        "><nvlink target=\"0000:18:00.0\" count=\"1\" tclass=\"0x030200\"/></gpu>"),
            "d.xml:6:23: error: the GPU 0000:18:00.0 has no <nvlink> back to 0000:1b:00.0");
  EXPECT_EQ(MessageWith("<gpu dev=\"0\" sm=\"90\" rank=\"5\"/>", ""),
            "d.xml:3:1: error: this <system> has no <gpu>");
  EXPECT_EQ(MessageWith("<nic>\n", "<gpu dev=\"1\" sm=\"90\"/><nic>\n"),
            "d.xml:7:66: error: this <pci> is a <gpu> already; it cannot hold <nic>");
  EXPECT_EQ(
      MessageWith("<pci busid=\"00000000:1B:00.0\"",
                  "<pci busid=\"0000:0a:00.0\" class=\"0x068000\"><pci busid=\"0000:0b:00.0\" "
                  "class=\"0x060400\"/></pci><pci busid=\"00000000:1B:00.0\""),
      "d.xml:5:27: error: NCCL takes a device of class '0x068000' for an NVSwitch and ignores the "
      "devices in it");
  std::string many;
  for (int i = 0; i < 300; ++i) many += "<pci busid=\"0001:00:00.0\" class=\"0x060400\"/>";
  const std::string error = MessageWith("<pci", many + "<pci");
  EXPECT_NE(error.find("error: more than 254 elements, the maximum that NCCL reads"),
            std::string::npos)
      << error;
}

TEST(TopologyXmlTest, RefusesBandwidthOfAFractionOfALink) {
  HostKind kind = DgxH100();
  kind.scale_up.bandwidth = GigabitsPerSecond(3601);
  const auto host = DescribeHost(kind, TestGpu(90));
  ASSERT_FALSE(host.ok());
  EXPECT_NE(host.error().message().find("is not a whole number of NVLinks of"), std::string::npos);
}

}  // namespace
}  // namespace drydock
