#include "exec-engine/transfer/connection_ends.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace drydock {
namespace {

// Two hosts of four GPUs with NVSwitches, and a NIC for each GPU.
struct Hosts {
  Hosts() {
    kind.gpus = 4;
    kind.scale_up.kind = ScaleUpKind::kNvSwitch;
    kind.scale_up.bandwidth = Bandwidth::FromBytesPerSecond(450e9);
    kind.nics.count = 4;
    kind.nics.rate = Bandwidth::FromBytesPerSecond(50e9);
    kind.nics.pcie_generation = 5;
    kind.nics.pcie_lanes = 16;
    GpuSpec gpu;
    gpu.pcie = Bandwidth::FromBytesPerSecond(64e9);
    gpu.collectives.link_efficiency = 1;
    ports = std::make_unique<PortMap>(kind, gpu);
  }
  // One end of a connection from member 1 (host 0) to member 7 (host 1).
  LocalConnection End(const Connection& c, bool sends) const {
    const std::vector<int> hosts{0, 0, 0, 0, 1, 1, 1, 1}, gpus{0, 1, 2, 3, 0, 1, 2, 3};
    LocalConnection out;
    ConnectionEnds(*ports, sends ? 0 : 1, hosts, gpus, none).Resolve(c, sends, &out);
    return out;
  }
  HostKind kind;
  std::unique_ptr<PortMap> ports;
  Aggregation none;
};

Connection AcrossHosts(int16_t send_nic, int16_t recv_nic) {
  Connection c;
  c.from = 1;
  c.to = 7;
  c.link = LinkKind::kNet;
  c.send_nic = send_nic;
  c.recv_nic = recv_nic;
  return c;
}

TEST(ConnectionEnds, GpuDirectReadsAndWritesGpuMemoryOverPcie) {
  const Hosts hosts;
  const LocalConnection sender = hosts.End(AcrossHosts(1, 3), true);
  EXPECT_EQ(sender.gpu_dma, hosts.ports->PcieOut(1));
  EXPECT_EQ(sender.nic, hosts.ports->NicOut(1));
  EXPECT_EQ(sender.path.out, kNoPort) << "the thread block stores into its own GPU's memory";
  const LocalConnection receiver = hosts.End(AcrossHosts(1, 3), false);
  EXPECT_EQ(receiver.gpu_dma, hosts.ports->PcieIn(3));
  EXPECT_EQ(receiver.nic, hosts.ports->NicIn(3));
  EXPECT_EQ(receiver.path.in, kNoPort);
}

TEST(ConnectionEnds, PxnCrossesNvlinkIntoTheGpuBesideTheNic) {
  const Hosts hosts;
  Connection c = AcrossHosts(3, 3);  // the receiver's rail
  c.proxy = 3;
  const LocalConnection sender = hosts.End(c, true);
  const PortPath nvlink = hosts.ports->ScaleUpPath(1, 3, -1);
  EXPECT_EQ(sender.path.out, nvlink.out);
  EXPECT_EQ(sender.path.in, nvlink.in);
  EXPECT_NE(sender.path.out, kNoPort);
  EXPECT_EQ(sender.gpu_dma, hosts.ports->PcieOut(3)) << "the NIC reads the proxy's memory";
  EXPECT_EQ(sender.nic, hosts.ports->NicOut(3));
  const LocalConnection receiver = hosts.End(c, false);
  EXPECT_EQ(receiver.gpu_dma, hosts.ports->PcieIn(3));
  EXPECT_EQ(receiver.path.out, kNoPort) << "the receiver's own GPU is beside its NIC";
}

TEST(ConnectionEnds, WithoutGpuDirectTheThreadBlockCrossesPcie) {
  const Hosts hosts;
  Connection c = AcrossHosts(1, 3);
  c.send_gdr = c.recv_gdr = false;
  const LocalConnection sender = hosts.End(c, true);
  EXPECT_EQ(sender.gpu_dma, kNoPort);
  EXPECT_EQ(sender.path.out, hosts.ports->PcieOut(1));
  EXPECT_EQ(hosts.End(c, false).path.in, hosts.ports->PcieIn(3));
}

}  // namespace
}  // namespace drydock
