#include "core/nccl/topology_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

namespace drydock {
namespace {

// One NVLink, one direction, in GB/s: NVIDIA's architecture whitepapers (V100, A100, H100: 25;
// Blackwell: 50).
int64_t NvLinkBitsPerSecond(int capability) {
  return (capability >= 100 ? 50 : 25) * int64_t{8'000'000'000};
}

// The bus numbers of PCI domain 0, then those of 2 and on: the NVSwitches have domain 1.
std::string BusId(int bus) {
  const int domain = bus < 256 ? 0 : 1 + bus / 256;
  return fmt::format("{:04x}:{:02x}:00.0", domain, bus % 256);
}
std::string NvSwitchBusId(int index) { return fmt::format("0001:{:02x}:00.0", index + 1); }

// A PCIe switch (or, without NVLink, a root port) and what hangs from it.
struct Slot {
  int socket = 0;
  std::vector<int> gpus;
  std::vector<int> nics;
};

std::vector<Slot> PlaceDevices(const HostKind& kind) {
  const bool pcie_only = kind.scale_up.kind == ScaleUpKind::kPcie;
  const int per_slot = pcie_only || kind.nics.pcie_generation >= 5 ? 1 : 2;
  std::vector<Slot> slots(static_cast<size_t>((kind.gpus + per_slot - 1) / per_slot));
  for (int g = 0; g < kind.gpus; ++g) slots[static_cast<size_t>(g / per_slot)].gpus.push_back(g);
  for (size_t s = 0; s < slots.size(); ++s) slots[s].socket = s < (slots.size() + 1) / 2 ? 0 : 1;
  for (int n = 0; n < kind.nics.count; ++n) {
    // The first GPU that calls this NIC its own; with more NICs than GPUs they share GPUs evenly.
    int gpu = n * kind.gpus / kind.nics.count;
    while (gpu + 1 < kind.gpus && kind.NicOfGpu(gpu) < n && kind.nics.count <= kind.gpus) ++gpu;
    slots[static_cast<size_t>(gpu / per_slot)].nics.push_back(n);
  }
  return slots;
}

class Writer {
 public:
  Writer(const HostKind& kind, const GpuSpec& gpu, int links)
      : kind_(kind), gpu_(gpu), links_(links) {}

  NcclHost Write() {
    const std::vector<Slot> slots = PlaceDevices(kind_);
    for (const Slot& slot : slots) {
      const auto devices = static_cast<int>(slot.gpus.size() + slot.nics.size());
      buses_per_slot_ = std::max(buses_per_slot_, 1 + devices);
    }
    host_.gpu_bus_ids.resize(static_cast<size_t>(kind_.gpus));
    host_.nics.resize(static_cast<size_t>(kind_.nics.count));
    AssignBusIds(slots);
    host_.xml = "<system version=\"1\">\n";
    for (int socket = 0; socket < 2; ++socket) WriteSocket(slots, socket);
    host_.xml += "</system>\n";
    return std::move(host_);
  }

 private:
  // A slot's bus numbers: the switch, then GPUs, then NICs.
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

  // The processors of the DGX of the GPU's generation: EPYC before Hopper, Xeon from then on.
  std::string Cpu(int socket) const {
    const bool intel = gpu_.compute_capability >= 90;
    return fmt::format(
        "  <cpu numaid=\"{}\" affinity=\"{}\" arch=\"x86_64\" vendor=\"{}\" familyid=\"{}\" "
        "modelid=\"{}\">\n",
        socket, socket == 0 ? "00000000,ffffffff" : "ffffffff,00000000",
        intel ? "GenuineIntel" : "AuthenticAMD", intel ? 6 : 143, intel ? 143 : 49);
  }

  void WriteSocket(const std::vector<Slot>& slots, int socket) {
    const bool used = std::any_of(slots.begin(), slots.end(),
                                  [&](const Slot& slot) { return slot.socket == socket; });
    if (!used) return;
    host_.xml += Cpu(socket);
    const bool switched = kind_.scale_up.kind != ScaleUpKind::kPcie;
    for (size_t s = 0; s < slots.size(); ++s) {
      if (slots[s].socket != socket) continue;
      if (switched) OpenPci(4, BusId(FirstBus(s)), "0x060400", "0x1000", "0xc030");
      for (const int g : slots[s].gpus) WriteGpu(switched ? 6 : 4, g);
      for (const int n : slots[s].nics) WriteNic(switched ? 6 : 4, n);
      if (switched) host_.xml += "    </pci>\n";
    }
    host_.xml += "  </cpu>\n";
  }

  void OpenPci(int indent, const std::string& bus_id, const char* device_class, const char* vendor,
               const char* device) {
    host_.xml += fmt::format(
        "{:{}}<pci busid=\"{}\" class=\"{}\" vendor=\"{}\" device=\"{}\" "
        "subsystem_vendor=\"0x0000\" "
        "subsystem_device=\"0x0000\" link_speed=\"{}\" link_width=\"{}\">\n",
        "", indent, bus_id, device_class, vendor, device, LinkSpeed(), kind_.nics.pcie_lanes);
  }

  std::string LinkSpeed() const {
    const int generation = kind_.nics.pcie_generation > 0  ? kind_.nics.pcie_generation
                           : gpu_.compute_capability >= 90 ? 5
                                                           : 4;
    return fmt::format("{}.0 GT/s PCIe", 8 << (generation - 3));
  }

  void WriteGpu(int indent, int g) {
    OpenPci(indent, host_.gpu_bus_ids[static_cast<size_t>(g)], "0x030200", "0x10de", "0x0000");
    host_.xml += fmt::format("{:{}}<gpu dev=\"{}\" sm=\"{}\" gdr=\"1\">\n", "", indent + 2, g,
                             gpu_.compute_capability);
    for (const auto& [target, count, device_class] : LinksOf(g)) {
      host_.xml += fmt::format("{:{}}<nvlink target=\"{}\" count=\"{}\" tclass=\"{}\"/>\n", "",
                               indent + 4, target, count, device_class);
    }
    host_.xml += fmt::format("{0:{1}}</gpu>\n{0:{2}}</pci>\n", "", indent + 2, indent);
  }

  struct NvLinks {
    std::string target;
    int count;
    const char* device_class;
  };
  std::vector<NvLinks> LinksOf(int g) const {
    std::vector<NvLinks> out;
    const ScaleUp& scale_up = kind_.scale_up;
    if (scale_up.kind == ScaleUpKind::kNvSwitch) {
      for (int s = 0; s < scale_up.switches; ++s) {
        // What does not divide evenly goes to the first and last switches, as in a DGX H100.
        const int rest = links_ % scale_up.switches;
        const bool extra = s < (rest + 1) / 2 || s >= scale_up.switches - rest / 2;
        const int count = links_ / scale_up.switches + (extra ? 1 : 0);
        if (count > 0) out.push_back({NvSwitchBusId(s), count, "0x068000"});
      }
    } else if (scale_up.kind == ScaleUpKind::kNvLinkMesh) {
      for (int peer = 0; peer < kind_.gpus; ++peer) {
        if (peer == g) continue;
        out.push_back(
            {host_.gpu_bus_ids[static_cast<size_t>(peer)], links_ / (kind_.gpus - 1), "0x030200"});
      }
    }
    return out;
  }

  void WriteNic(int indent, int n) {
    const NcclHost::Nic& nic = host_.nics[static_cast<size_t>(n)];
    OpenPci(indent, nic.bus_id, "0x020700", "0x15b3", "0x0000");
    host_.xml += fmt::format(
        "{0:{1}}<nic>\n{0:{2}}<net name=\"{3}\" dev=\"{4}\" latency=\"0.000000\" speed=\"{5}\" "
        "port=\"1\" guid=\"0x{6:x}\" maxconn=\"131072\" "
        "gdr=\"1\"/>\n{0:{1}}</nic>\n{0:{7}}</pci>\n",
        "", indent + 2, indent + 4, nic.name, n, nic.speed_mbps, 0x1000 + n, indent);
  }

  const HostKind& kind_;
  const GpuSpec& gpu_;
  int links_;
  int buses_per_slot_ = 8;  // or more, where a slot has many devices
  NcclHost host_;
};

Result<int> LinkCount(const HostKind& kind, const GpuSpec& gpu) {
  const ScaleUp& scale_up = kind.scale_up;
  if (scale_up.kind == ScaleUpKind::kPcie) return 0;
  const int64_t one = NvLinkBitsPerSecond(gpu.compute_capability);
  const int64_t all = scale_up.bandwidth.bits_per_second();
  if (all < one || all % one != 0) {
    return Error(fmt::format(
        "host '{}': {} of scale-up bandwidth is not a whole number of NVLinks "
        "of {} each",
        kind.name, ToString(scale_up.bandwidth), ToString(Bandwidth::BitsPerSecond(one))));
  }
  const int links = static_cast<int>(all / one);
  if (scale_up.kind == ScaleUpKind::kNvSwitch && scale_up.switches < 1) {
    return Error(fmt::format("host '{}' is joined by NVSwitches but has none", kind.name));
  }
  if (scale_up.kind == ScaleUpKind::kNvLinkMesh && kind.gpus > 1 && links < kind.gpus - 1) {
    return Error(fmt::format("host '{}': {} NVLinks a GPU do not reach {} others", kind.name, links,
                             kind.gpus - 1));
  }
  return links;
}

// ---- Reading a dumped XML: tags and attributes are all there is to NCCL's format ----

struct Tag {
  std::string name;
  bool closing = false;  // </name>
  bool empty = false;    // <name/>
  std::map<std::string, std::string, std::less<>> attributes;
  std::string Get(std::string_view key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? std::string() : found->second;
  }
};

// The next tag from *at on; false at the end. Comments and declarations are passed over.
bool NextTag(std::string_view xml, size_t* at, Tag* tag) {
  while (true) {
    const size_t open = xml.find('<', *at);
    if (open == std::string_view::npos) return false;
    const size_t close = xml.find('>', open);
    if (close == std::string_view::npos) return false;
    *at = close + 1;
    std::string_view text = xml.substr(open + 1, close - open - 1);
    if (text.empty() || text[0] == '!' || text[0] == '?') continue;
    *tag = Tag();
    tag->closing = text[0] == '/';
    tag->empty = text.back() == '/';
    if (tag->closing) text.remove_prefix(1);
    const size_t name_end = text.find_first_of(" \t\r\n/");
    tag->name = std::string(text.substr(0, name_end));
    while (name_end != std::string_view::npos) {
      const size_t equals = text.find('=');
      const size_t quote = text.find('"', equals);
      const size_t end = quote == std::string_view::npos ? quote : text.find('"', quote + 1);
      if (end == std::string_view::npos) break;
      std::string_view key = text.substr(0, equals);
      key.remove_prefix(std::min(key.size(), key.find_last_of(" \t\r\n") + 1));
      tag->attributes[std::string(key)] = std::string(text.substr(quote + 1, end - quote - 1));
      text.remove_prefix(end + 1);
    }
    return true;
  }
}

int ToInt(const std::string& text, int fallback) {
  int value = fallback;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Result<NcclHost> ParseTopologyXml(const std::string& xml) {
  NcclHost host;
  host.xml = xml;
  std::map<int, std::string> gpus;  // by "dev"
  std::map<int, NcclHost::Nic> nics;
  std::vector<std::string> pci;  // bus ids of the open <pci> elements
  size_t at = 0;
  Tag tag;
  while (NextTag(xml, &at, &tag)) {
    if (tag.name == "pci") {
      if (tag.closing && !pci.empty()) pci.pop_back();
      if (!tag.closing && !tag.empty) pci.push_back(tag.Get("busid"));
    } else if (tag.name == "gpu" && !tag.closing) {
      if (pci.empty()) return Error("NCCL topology XML: a <gpu> stands outside every <pci>");
      gpus[ToInt(tag.Get("dev"), static_cast<int>(gpus.size()))] = pci.back();
    } else if (tag.name == "net" && !tag.closing) {
      nics[ToInt(tag.Get("dev"), static_cast<int>(nics.size()))] = {
          tag.Get("name"), pci.empty() ? std::string() : pci.back(), ToInt(tag.Get("speed"), 0)};
    }
  }
  if (gpus.empty()) return Error("NCCL topology XML: no <gpu> in it");
  for (const auto& [dev, bus_id] : gpus) host.gpu_bus_ids.push_back(bus_id);
  for (const auto& [dev, nic] : nics) host.nics.push_back(nic);
  return host;
}

Result<NcclHost> DescribeHost(const HostKind& kind, const GpuSpec& gpu) {
  NcclHost host;
  if (kind.nccl_topology_xml.empty()) {
    ASSIGN_OR_RETURN(const int links, LinkCount(kind, gpu));
    host = Writer(kind, gpu, links).Write();
  } else {
    ASSIGN_OR_RETURN(host, ParseTopologyXml(kind.nccl_topology_xml));
    const int gpus = static_cast<int>(host.gpu_bus_ids.size());
    const int nics = static_cast<int>(host.nics.size());
    if (gpus != kind.gpus || nics != kind.nics.count) {
      return Error(fmt::format("host '{}' has {} GPUs and {} NICs, its NCCL topology XML {} and {}",
                               kind.name, kind.gpus, kind.nics.count, gpus, nics));
    }
  }
  host.compute_capability = gpu.compute_capability;
  host.sm_count = gpu.sms;
  host.memory_bytes = gpu.memory.count();
  host.multicast = kind.scale_up.multicast;
  return host;
}

}  // namespace drydock
