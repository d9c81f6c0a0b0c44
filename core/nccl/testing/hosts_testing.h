// Kinds of hosts for tests of NCCL's decisions, as their vendors describe them.
#ifndef DRYDOCK_CORE_NCCL_TESTING_HOSTS_TESTING_H_
#define DRYDOCK_CORE_NCCL_TESTING_HOSTS_TESTING_H_

#include <string>
#include <utility>
#include <vector>

#include "core/nccl/nccl_library.h"

namespace drydock {

inline Bandwidth GigabitsPerSecond(int64_t gigabits) {
  return Bandwidth::BitsPerSecond(gigabits * 1'000'000'000);
}

inline GpuSpec TestGpu(int capability) {
  GpuSpec gpu;
  gpu.compute_capability = capability;
  gpu.sms = capability >= 90 ? 132 : 108;
  gpu.memory = Bytes(80'000'000'000);
  return gpu;
}

// 8 GPUs, NVLink 450 GB/s per direction over 4 switches with multicast, one 400 Gb/s NIC per GPU.
inline HostKind DgxH100() {
  HostKind kind;
  kind.name = "dgx-h100";
  kind.gpus = 8;
  kind.scale_up = {ScaleUpKind::kNvSwitch, 4, GigabitsPerSecond(3600), Time::Ns(600), true, {}};
  kind.nics.count = 8;
  kind.nics.rate = GigabitsPerSecond(400);
  kind.nics.pcie_generation = 5;
  return kind;
}

// 8 GPUs, NVLink 300 GB/s per direction over 6 switches, `nics` NICs of 200 Gb/s.
inline HostKind DgxA100(int nics = 8) {
  HostKind kind;
  kind.name = "dgx-a100";
  kind.gpus = 8;
  kind.scale_up = {ScaleUpKind::kNvSwitch, 6, GigabitsPerSecond(2400), Time::Ns(600), false, {}};
  kind.nics.count = nics;
  kind.nics.rate = GigabitsPerSecond(200);
  kind.nics.pcie_generation = 4;
  return kind;
}

// 8 V100 in a hybrid cube mesh of 25 GB/s NVLinks, four 100 Gb/s NICs.
inline HostKind Dgx1V100() {
  HostKind kind;
  kind.name = "dgx-1-v100";
  kind.gpus = 8;
  kind.scale_up = {
      ScaleUpKind::kNvLinkMesh, 0, GigabitsPerSecond(1200), Time::Ns(900), false, CubeMesh()};
  kind.board.cpu = "xeon-broadwell";
  kind.nics.count = 4;
  kind.nics.rate = GigabitsPerSecond(100);
  kind.nics.pcie_generation = 3;
  return kind;
}

// 8 GPUs without NVLink, two on each PCIe switch, two 200 Gb/s NICs.
inline HostKind PcieOnly() {
  HostKind kind;
  kind.name = "pcie";
  kind.gpus = 8;
  kind.scale_up = {ScaleUpKind::kPcie, 0, GigabitsPerSecond(248), Time::Us(1), false, {}};
  kind.board.cpu = "epyc";
  kind.board.gpus_per_switch = 2;
  kind.nics.count = 2;
  kind.nics.rate = GigabitsPerSecond(200);
  kind.nics.pcie_generation = 4;
  return kind;
}

// A rack of 72 Blackwell GPUs behind NVSwitches: 18 trays of 4 GPUs, with a Grace for every two.
inline HostKind Gb200Rack() {
  HostKind kind;
  kind.name = "gb200-nvl72";
  kind.gpus = 72;
  kind.trays = 18;
  kind.scale_up = {ScaleUpKind::kNvSwitch, 18, GigabitsPerSecond(7200), Time::Ns(800), true, {}};
  kind.board = {"grace", 2, 0, {}, GigabitsPerSecond(1800)};
  kind.nics.count = 72;
  kind.nics.rate = GigabitsPerSecond(400);
  kind.nics.pcie_generation = 5;
  return kind;
}

// Returns the places of the GPUs `gpus` on hosts 0 to hosts - 1, host by host.
inline std::vector<hacknccl_place> Places(int hosts, const std::vector<int>& gpus,
                                          int host_class = 0) {
  std::vector<hacknccl_place> places;
  for (int host = 0; host < hosts; ++host) {
    for (const int gpu : gpus) places.push_back({host, host_class, gpu});
  }
  return places;
}

// Makes a world of hosts of these kinds, all with one kind of GPU, in the library from set-up.
inline NcclWorld TestWorld(const std::vector<HostKind>& kinds, int capability,
                           const std::vector<std::pair<std::string, std::string>>& settings = {}) {
  auto library = NcclLibrary::Load();
  std::vector<NcclHost> hosts;
  for (const HostKind& kind : kinds) {
    hosts.push_back(DescribeHost(kind, TestGpu(capability)).value());
  }
  return NcclWorld::Create(library.value(), hosts, settings).value();
}

inline const std::vector<int> kAllEight = {0, 1, 2, 3, 4, 5, 6, 7};

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_TESTING_HOSTS_TESTING_H_
