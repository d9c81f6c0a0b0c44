#include "core/model/topology.h"

#include <gtest/gtest.h>

#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;

// Returns `hosts` hosts of four GPUs and `nics` NICs, without a fabric.
Topology Hosts(int hosts, int nics) {
  Topology topology;
  HostKind kind;
  kind.gpus = 4;
  kind.nics.count = nics;
  topology.host_kinds = {kind};
  topology.hosts.assign(static_cast<size_t>(hosts), 0);
  return topology;
}

LinkEnd Nic(int host, int nic) { return {false, host, nic}; }
LinkEnd Switch(int index) { return {true, index, 0}; }

TEST(NicsTest, PcieBandwidthAfterEncoding) {
  Nics nics;
  nics.pcie_generation = 4;
  // 16 GT/s x 16 lanes x 128/130 = 252.06 Gbps.
  EXPECT_NEAR(static_cast<double>(nics.pcie_bandwidth().bits_per_second()), 252.06e9, 0.01e9);
  nics.pcie_generation = 5;
  nics.pcie_lanes = 8;
  EXPECT_NEAR(static_cast<double>(nics.pcie_bandwidth().bits_per_second()), 252.06e9, 0.01e9);
}

TEST(HostKindTest, GpusShareNicsEvenly) {
  HostKind kind;
  kind.gpus = 8;
  kind.nics.count = 4;
  EXPECT_EQ(kind.NicOfGpu(0), 0);
  EXPECT_EQ(kind.NicOfGpu(1), 0);
  EXPECT_EQ(kind.NicOfGpu(7), 3);
  kind.nics.count = 16;
  EXPECT_EQ(kind.NicOfGpu(7), 14);
  kind.nics.count = 0;
  EXPECT_EQ(kind.NicOfGpu(7), -1);
}

TEST(PlacementTest, RanksFillHostsInOrder) {
  const Topology topology = Hosts(3, 1);
  const Placement placement(topology);
  EXPECT_EQ(topology.gpu_count(), 12);
  ASSERT_EQ(placement.slots.size(), 12u);
  EXPECT_EQ(placement.of(0).host, 0);
  EXPECT_EQ(placement.of(7).host, 1);
  EXPECT_EQ(placement.of(7).gpu, 3);
  EXPECT_EQ(placement.of(8).host, 2);
}

TEST(CheckConnectedTest, OneHostNeedsNoFabric) {
  EXPECT_EQ(ErrorText(CheckConnected(Hosts(1, 0))), "ok");
}

TEST(CheckConnectedTest, RailsNeedNoPathBetweenThem) {
  Topology topology = Hosts(2, 2);
  topology.fabric.switches.resize(2);
  for (int host = 0; host < 2; ++host) {
    for (int nic = 0; nic < 2; ++nic)
      topology.fabric.links.push_back({Nic(host, nic), Switch(nic)});
  }
  EXPECT_EQ(ErrorText(CheckConnected(topology)), "ok");
}

TEST(CheckConnectedTest, ErrorNamesTwoDisconnectedNics) {
  Topology topology = Hosts(3, 1);
  EXPECT_EQ(ErrorText(CheckConnected(topology)),
            "error: the fabric is disconnected: NIC 0 of host 0 cannot reach NIC 0 of host 1");
  topology.fabric.links = {{Nic(0, 0), Nic(1, 0)}};
  EXPECT_EQ(ErrorText(CheckConnected(topology)),
            "error: the fabric is disconnected: NIC 0 of host 0 cannot reach NIC 0 of host 2");
  EXPECT_EQ(ErrorText(CheckConnected(Hosts(2, 0))),
            "error: host 0 has no NIC, so it cannot reach the others");
}

}  // namespace
}  // namespace drydock
