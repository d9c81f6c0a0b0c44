#include "exec-engine/host/ports.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

Bandwidth GigabytesPerSecond(double rate) { return Bandwidth::FromBytesPerSecond(rate * 1e9); }

GpuSpec Gpu() {
  GpuSpec gpu;
  gpu.pcie = GigabytesPerSecond(16);
  gpu.collectives.link_efficiency = 1;
  return gpu;
}

// The hybrid cube mesh of a DGX-1: six links of 25 GB/s on each GPU.
HostKind CubeMeshHost() {
  HostKind kind;
  kind.gpus = 8;
  kind.scale_up.kind = ScaleUpKind::kNvLinkMesh;
  kind.scale_up.bandwidth = GigabytesPerSecond(150);
  kind.scale_up.mesh = CubeMesh();
  kind.board.gpus_per_switch = 2;
  kind.board.socket_link = GigabytesPerSecond(8);
  return kind;
}

HostKind PcieHost() {
  HostKind kind;
  kind.gpus = 8;
  kind.scale_up.kind = ScaleUpKind::kPcie;
  kind.scale_up.bandwidth = GigabytesPerSecond(16);
  kind.board.gpus_per_switch = 2;
  kind.board.socket_link = GigabytesPerSecond(8);
  return kind;
}

// Microseconds until `bytes` have crossed each of `paths` in turn, all from time 0 on.
double Microseconds(const PortMap& map, const std::vector<PortPath>& paths, int64_t bytes) {
  Ports ports(map);
  Time end;
  for (const PortPath& path : paths) end = ports.Cross(path, Time(), bytes);
  return static_cast<double>(end.ps()) / 1e6;
}

TEST(PortsTest, APairOfAMeshHasTheRateOfItsLinks) {
  const PortMap map(CubeMeshHost(), Gpu());
  const int64_t megabyte = 1'000'000;
  EXPECT_NEAR(Microseconds(map, {map.ScaleUpPath(0, 1, -1)}, megabyte), 40, 0.1);  // one link
  EXPECT_NEAR(Microseconds(map, {map.ScaleUpPath(0, 3, -1)}, megabyte), 20, 0.1);  // two
  // Other pairs of the same GPU and the opposite direction are other links.
  EXPECT_NEAR(Microseconds(map, {map.ScaleUpPath(0, 1, -1), map.ScaleUpPath(0, 2, -1)}, megabyte),
              40, 0.1);
  EXPECT_NEAR(Microseconds(map, {map.ScaleUpPath(0, 1, -1), map.ScaleUpPath(1, 0, -1)}, megabyte),
              40, 0.1);
  EXPECT_NEAR(Microseconds(map, {map.ScaleUpPath(0, 1, -1), map.ScaleUpPath(0, 1, -1)}, megabyte),
              80, 0.1);
}

TEST(PortsTest, AMessageThroughAThirdGpuTakesBothLinks) {
  const PortMap map(CubeMeshHost(), Gpu());
  const PortPath path = map.ScaleUpPath(0, 7, 4);
  EXPECT_EQ(path.out, map.ScaleUpPath(0, 4, -1).out);
  EXPECT_EQ(path.in, map.ScaleUpPath(4, 7, -1).out);
  EXPECT_NEAR(Microseconds(map, {path}, 1'000'000), 20, 0.1);  // cut through, two links each
  std::vector<uint16_t> classes;
  map.AddClasses(path, &classes);
  EXPECT_EQ(classes, (std::vector<uint16_t>{0, 8, 8, 14}));  // GPU 4 is busy too
}

TEST(PortsTest, GpusOfAMeshWithoutLinksUsePcieAndTheSocketLink) {
  const PortMap map(CubeMeshHost(), Gpu());
  EXPECT_NEAR(Microseconds(map, {map.ScaleUpPath(0, 7, -1)}, 1'000'000), 125, 0.1);  // 8 GB/s
}

TEST(PortsTest, PcieGpusShareTheirSwitchAndTheSocketLink) {
  const PortMap map(PcieHost(), Gpu());
  const int64_t megabyte = 1'000'000;
  // Inside a switch, GPUs share nothing but their own links.
  EXPECT_NEAR(Microseconds(map, {map.ScaleUpPath(2, 3, -1), map.ScaleUpPath(0, 1, -1)}, megabyte),
              62.5, 0.1);
  // GPUs 0 and 1 leave their switch by one uplink.
  EXPECT_NEAR(Microseconds(map, {map.ScaleUpPath(0, 2, -1), map.ScaleUpPath(1, 3, -1)}, megabyte),
              125, 0.1);
  // GPUs 0 and 2 have an uplink each, but one link between the sockets.
  EXPECT_NEAR(Microseconds(map, {map.ScaleUpPath(0, 4, -1), map.ScaleUpPath(2, 6, -1)}, megabyte),
              250, 0.1);
  // Through host memory, even neighbors leave their switch.
  EXPECT_NEAR(Microseconds(map, {map.PciePath(0, 1, true), map.PciePath(1, 0, true)}, megabyte),
              125, 0.1);
}

TEST(PortsTest, GpusThatShareThePortsOfTheBoardHaveACommonClass) {
  const PortMap map(PcieHost(), Gpu());
  std::vector<uint16_t> inside, across;
  map.AddClasses(map.ScaleUpPath(0, 1, -1), &inside);
  map.AddClasses(map.ScaleUpPath(0, 4, -1), &across);
  EXPECT_EQ(inside, (std::vector<uint16_t>{1, 3}));
  for (uint16_t gpu = 0; gpu < 8; ++gpu) {
    EXPECT_NE(std::find(across.begin(), across.end(), 2 * gpu + 1), across.end()) << gpu;
  }
}

}  // namespace
}  // namespace drydock
