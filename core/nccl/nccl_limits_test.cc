// Inputs at the limits of NCCL's arrays and 32-bit numbers are accepted, or refused with a reason.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/nccl/testing/hosts_testing.h"

namespace drydock {
namespace {

// Two processors with a GPU and a NIC each, behind a chain of PCIe switches.
std::string ChainsOfSwitches(int switches, const std::string& nic_link) {
  std::string xml = "<system version=\"1\">";
  for (int cpu = 0; cpu < 2; ++cpu) {
    xml += fmt::format("<cpu numaid=\"{}\" arch=\"x86_64\" vendor=\"AuthenticAMD\">", cpu);
    for (int i = 0; i < switches; ++i) {
      xml += fmt::format(
          "<pci busid=\"000{}:{:02x}:00.0\" class=\"0x060400\" link_speed=\"16.0 GT/s PCIe\" "
          "link_width=\"16\">",
          cpu, i);
    }
    xml += fmt::format(
        "<pci busid=\"001{0}:01:00.0\" class=\"0x030200\"><gpu dev=\"{0}\" sm=\"80\"/></pci>"
        "<pci busid=\"001{0}:02:00.0\" class=\"0x020700\"{1}><nic><net name=\"mlx5_{0}\" "
        "dev=\"{0}\" speed=\"100000\"/></nic></pci>",
        cpu, nic_link);
    for (int i = 0; i < switches; ++i) xml += "</pci>";
    xml += "</cpu>";
  }
  return xml + "</system>";
}

NcclWorld WorldOfXml(const std::string& xml) {
  NcclHost host = ParseTopologyXml(xml, "host.xml", 80).value();
  host.compute_capability = 80;
  host.sm_count = 108;
  host.memory_bytes = 80'000'000'000;
  return NcclWorld::Create(NcclLibrary::Load().value(), {host}, {}).value();
}

TEST(NcclLimitsTest, SupportsPathsOfTheDeepestTopology) {
  constexpr int kMaxSwitches = 27;  // 5 of the 32 levels are above and below the switches
  const NcclWorld world = WorldOfXml(ChainsOfSwitches(kMaxSwitches, " link_width=\"16\""));
  const auto comm = world.CreateCommunicator(Places(2, {0, 1}));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->shape().hosts, 2);
  for (int from = 0; from < 4; ++from) {
    const auto link = comm->Link(HACKNCCL_GRAPH_P2P, 0, from, (from + 2) % 4);
    ASSERT_TRUE(link.ok()) << link.error().ToString();
    EXPECT_EQ(link->send_nic, from % 2);  // its own, not the other processor's
  }
  const auto longer = ParseTopologyXml(ChainsOfSwitches(kMaxSwitches + 1, ""), "host.xml", 80);
  ASSERT_FALSE(longer.ok());
  EXPECT_NE(longer.error().ToString().find("more than 32 levels"), std::string::npos);
}

// A dump may leave out the width of a link, or leave it empty. NCCL then assumes 16 lanes.
TEST(NcclLimitsTest, ANicOfUnknownLinkWidthHasSixteenLanes) {
  const auto channels = [](const std::string& nic_link) {
    const NcclWorld world = WorldOfXml(ChainsOfSwitches(1, nic_link));
    const auto comm = world.CreateCommunicator(Places(2, {0, 1}));
    EXPECT_TRUE(comm.ok()) << comm.error().ToString();
    return comm.ok() ? comm->shape().ring_channels : 0;
  };
  const int expected = channels(" link_speed=\"\" link_width=\"16\"");
  EXPECT_GT(expected, 0);
  EXPECT_EQ(channels(" link_speed=\"\" link_width=\"\""), expected);
  EXPECT_EQ(channels(""), expected);
}

TEST(NcclLimitsTest, RefusesMessagesThatOverflowNcclsCounts) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(2, {0, 1})).value();
  const int64_t most = int64_t{65536} * INT32_MAX;  // NCCL's chunk for the network is 128 KiB
  EXPECT_TRUE(comm.Launch(0, {SendTo(2, most)}).ok());
  const auto refused = comm.Launch(0, {SendTo(2, most + 1)});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(),
            "140737488289793 B are more than NCCL sends in one message: 2147483647 parts of 65536 "
            "B");
  const auto too_large = comm.Collective(
      {HACKNCCL_ALL_REDUCE, HACKNCCL_FLOAT64, HACKNCCL_SUM, 0, uint64_t{1} << 62, 0});
  ASSERT_FALSE(too_large.ok());
  EXPECT_EQ(too_large.error().message(),
            "4611686018427387904 elements of 8 B over 4 ranks are more than the 2^48 B a GPU can "
            "address");
}

// PAT is the only algorithm whose steps are listed one by one.
TEST(NcclLimitsTest, TooManyStepsOfPatAreAnError) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(2, {0})).value();
  hacknccl_collective work = {};
  work.function = HACKNCCL_ALL_GATHER;
  work.algorithm = HACKNCCL_PAT;
  work.element_bytes = 1;
  work.chunk_lo = 65536;
  work.count = work.count_lo = uint64_t{1} << 30;
  EXPECT_TRUE(comm.Pat(work, 0, 0).ok());
  work.count = work.count_lo = uint64_t{1} << 47;
  const auto refused = comm.Pat(work, 0, 0);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(),
            "NCCL takes more than 1048576 steps for this collective with PAT");
}

}  // namespace
}  // namespace drydock
