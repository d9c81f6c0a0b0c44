#include "core/nccl/host_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace drydock {
namespace {

// Uses the bus numbers of PCI domain 0, then of domains 2 and higher. The NVSwitches have domain 1.
std::string BusId(int bus) {
  const int domain = bus < 256 ? 0 : 1 + bus / 256;
  return fmt::format("{:04x}:{:02x}:00.0", domain, bus % 256);
}
std::string NvSwitchBusId(int index) { return fmt::format("0001:{:02x}:00.0", index + 1); }

// How NCCL recognizes a processor: the vendor, family and model of CPUID.
struct Processor {
  const char *name, *arch, *vendor;
  int family, model;
};
const Processor& FindProcessor(const HostKind& kind, const GpuSpec& gpu) {
  static const Processor processors[] = {
      {"epyc", "x86_64", "AuthenticAMD", 143, 49},
      {"xeon-broadwell", "x86_64", "GenuineIntel", 6, 79},
      {"xeon-skylake", "x86_64", "GenuineIntel", 6, 85},
      {"xeon-sapphire-rapids", "x86_64", "GenuineIntel", 6, 143},
      {"xeon-emerald-rapids", "x86_64", "GenuineIntel", 6, 207},
      {"grace", "arm64", "", 0, 0},
  };
  const std::string name = kind.CpuName(gpu.compute_capability);
  for (const Processor& processor : processors) {
    if (name == processor.name) return processor;
  }
  return processors[0];
}

// A PCIe switch, or a root port, and its devices.
struct Slot {
  int socket = 0;
  std::vector<int> gpus;
  std::vector<int> nics;
};

std::vector<Slot> PlaceDevices(const HostKind& kind) {
  const int gpus = kind.gpus_per_tray(), nics = kind.nics_per_tray();
  const int per_slot = std::max(kind.gpus_per_switch(), 1);
  std::vector<Slot> slots(static_cast<size_t>((gpus + per_slot - 1) / per_slot));
  for (int g = 0; g < gpus; ++g) slots[static_cast<size_t>(g / per_slot)].gpus.push_back(g);
  for (size_t s = 0; s < slots.size(); ++s) {
    slots[s].socket = kind.SocketOf(slots[s].gpus.front());
  }
  for (int n = 0; n < nics; ++n) {
    // The first GPU whose own NIC this is. If there are more NICs than GPUs, NICs share GPUs
    // evenly.
    int gpu = n * gpus / nics;
    while (gpu + 1 < gpus && kind.NicOfGpu(gpu) < n && nics <= gpus) ++gpu;
    slots[static_cast<size_t>(gpu / per_slot)].nics.push_back(n);
  }
  return slots;
}

// Returns the slowest PCIe generation whose 16 lanes carry `rate`, as data sheets round it.
int GenerationOf(Bandwidth rate) {
  for (int generation = 3; generation < 6; ++generation) {
    Nics link;
    link.pcie_generation = generation;
    if (rate.bits_per_second() <= link.pcie_bandwidth().bits_per_second()) return generation;
  }
  return 6;
}

class Writer {
 public:
  Writer(const HostKind& kind, const GpuSpec& gpu, int links)
      : kind_(kind), gpu_(gpu), links_(links) {
    nic_generation_ = kind.nics.pcie_generation;
    gpu_generation_ = gpu.pcie.bits_per_second() > 0 ? GenerationOf(gpu.pcie)
                      : nic_generation_ > 0          ? nic_generation_
                                                     : 4;
  }

  NcclHost Write() {
    const std::vector<Slot> slots = PlaceDevices(kind_);
    for (const Slot& slot : slots) {
      const auto devices = static_cast<int>(slot.gpus.size() + slot.nics.size());
      buses_per_slot_ = std::max(buses_per_slot_, 1 + devices);
    }
    host_.gpu_bus_ids.resize(static_cast<size_t>(kind_.gpus_per_tray()));
    host_.nics.resize(static_cast<size_t>(kind_.nics_per_tray()));
    AssignBusIds(slots);
    host_.xml = "<system version=\"1\">\n";
    for (int socket = 0; socket < kind_.board.sockets; ++socket) WriteSocket(slots, socket);
    host_.xml += "</system>\n";
    return std::move(host_);
  }

 private:
  // The bus numbers of a slot: the switch, then the GPUs, then the NICs.
  int FirstBus(size_t slot) const { return 8 + buses_per_slot_ * static_cast<int>(slot); }

  void AssignBusIds(const std::vector<Slot>& slots) {
    for (size_t s = 0; s < slots.size(); ++s) {
      int bus = FirstBus(s) + 1;
      for (const int g : slots[s].gpus) host_.gpu_bus_ids[static_cast<size_t>(g)] = BusId(bus++);
      for (const int n : slots[s].nics) {
        const int mbps = static_cast<int>(kind_.nics.rate.bits_per_second() / 1'000'000);
        host_.nics[static_cast<size_t>(n)] = {fmt::format("mlx5_{}", n), BusId(bus++), mbps};
      }
    }
  }

  std::string Cpu(int socket) const {
    const Processor& cpu = FindProcessor(kind_, gpu_);
    std::string affinity;  // 32 cores a socket, the first in the last word
    for (int s = kind_.board.sockets - 1; s >= 0; --s) {
      affinity += s == socket ? "ffffffff" : "00000000";
      if (s > 0) affinity += ',';
    }
    return fmt::format(
        "  <cpu numaid=\"{}\" affinity=\"{}\" arch=\"{}\" vendor=\"{}\" familyid=\"{}\" "
        "modelid=\"{}\">\n",
        socket, affinity, cpu.arch, cpu.vendor, cpu.family, cpu.model);
  }

  void WriteSocket(const std::vector<Slot>& slots, int socket) {
    const bool used = std::any_of(slots.begin(), slots.end(),
                                  [&](const Slot& slot) { return slot.socket == socket; });
    if (!used) return;
    host_.xml += Cpu(socket);
    const bool switched = kind_.gpus_per_switch() > 0;
    for (size_t s = 0; s < slots.size(); ++s) {
      if (slots[s].socket != socket) continue;
      if (switched) {
        OpenPci(4, BusId(FirstBus(s)), "0x060400", "0x1000", "0xc030",
                std::max(gpu_generation_, nic_generation_), 16);
      }
      for (const int g : slots[s].gpus) WriteGpu(switched ? 6 : 4, g);
      for (const int n : slots[s].nics) WriteNic(switched ? 6 : 4, n);
      if (switched) host_.xml += "    </pci>\n";
    }
    host_.xml += "  </cpu>\n";
  }

  void OpenPci(int indent, const std::string& bus_id, const char* device_class, const char* vendor,
               const char* device, int generation, int lanes) {
    host_.xml += fmt::format(
        "{:{}}<pci busid=\"{}\" class=\"{}\" vendor=\"{}\" device=\"{}\" "
        "subsystem_vendor=\"0x0000\" "
        "subsystem_device=\"0x0000\" link_speed=\"{}.0 GT/s PCIe\" link_width=\"{}\">\n",
        "", indent, bus_id, device_class, vendor, device, 8 << (generation - 3), lanes);
  }

  void WriteGpu(int indent, int g) {
    OpenPci(indent, host_.gpu_bus_ids[static_cast<size_t>(g)], "0x030200", "0x10de", "0x0000",
            gpu_generation_, 16);
    host_.xml += fmt::format("{:{}}<gpu dev=\"{}\" sm=\"{}\" gdr=\"1\">\n", "", indent + 2, g,
                             gpu_.compute_capability);
    for (const auto& [target, count, device_class] :
         NvLinksOf(kind_, links_, host_.gpu_bus_ids, g)) {
      host_.xml += fmt::format("{:{}}<nvlink target=\"{}\" count=\"{}\" tclass=\"{}\"/>\n", "",
                               indent + 4, target, count, device_class);
    }
    if (kind_.board.c2c.bits_per_second() > 0) {
      host_.xml += fmt::format("{:{}}<c2c bw=\"{}\" count=\"1\"/>\n", "", indent + 4,
                               kind_.board.c2c.bits_per_second() / 8'000'000);
    }
    host_.xml += fmt::format("{0:{1}}</gpu>\n{0:{2}}</pci>\n", "", indent + 2, indent);
  }

  void WriteNic(int indent, int n) {
    const NcclHost::Nic& nic = host_.nics[static_cast<size_t>(n)];
    OpenPci(indent, nic.bus_id, "0x020700", "0x15b3", "0x0000", nic_generation_,
            kind_.nics.pcie_lanes);
    // Trays share this text, but NICs need distinct GUIDs: libhacknccl assigns them per tray.
    const std::string guid = kind_.trays > 1 ? "" : fmt::format("guid=\"0x{:x}\" ", 0x1000 + n);
    host_.xml += fmt::format(
        "{0:{1}}<nic>\n{0:{2}}<net name=\"{3}\" dev=\"{4}\" latency=\"0.000000\" speed=\"{5}\" "
        "port=\"1\" {6}maxconn=\"131072\" "
        "gdr=\"1\"/>\n{0:{1}}</nic>\n{0:{7}}</pci>\n",
        "", indent + 2, indent + 4, nic.name, n, nic.speed_mbps, guid, indent);
  }

  const HostKind& kind_;
  const GpuSpec& gpu_;
  int links_;
  int gpu_generation_, nic_generation_;
  int buses_per_slot_ = 8;  // larger if a slot has many devices
  NcclHost host_;
};

}  // namespace

std::vector<HostNvLinks> NvLinksOf(const HostKind& kind, int links,
                                   const std::vector<std::string>& gpu_bus_ids, int g) {
  std::vector<HostNvLinks> out;
  const ScaleUp& scale_up = kind.scale_up;
  if (scale_up.kind == ScaleUpKind::kNvSwitch && kind.trays > 1) {
    // A tray does not see the switches: they belong to other machines.
    return {{"fffffff:ffff:ff", links, "0x068000"}};
  }
  if (scale_up.kind == ScaleUpKind::kNvSwitch) {
    for (int s = 0; s < scale_up.switches; ++s) {
      // The first and last switches get the remaining links, as in a DGX H100.
      const int rest = links % scale_up.switches;
      const bool extra = s < (rest + 1) / 2 || s >= scale_up.switches - rest / 2;
      const int count = links / scale_up.switches + (extra ? 1 : 0);
      if (count > 0) out.push_back({NvSwitchBusId(s), count, "0x068000"});
    }
  } else if (scale_up.kind == ScaleUpKind::kNvLinkMesh) {
    for (const MeshLink& link : scale_up.mesh) {
      if (link.a != g && link.b != g) continue;
      const int peer = link.a == g ? link.b : link.a;
      out.push_back({gpu_bus_ids[static_cast<size_t>(peer)], link.count, "0x030200"});
    }
  }
  return out;
}

NcclHost WriteHostXml(const HostKind& kind, const GpuSpec& gpu, int links) {
  return Writer(kind, gpu, links).Write();
}

}  // namespace drydock
