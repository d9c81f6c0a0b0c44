#include "core/nccl/topology_xml.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/yaml.h"
#include "core/nccl/host_xml.h"
#include "core/nccl/topology_completion.h"
#include "core/nccl/topology_rules.h"
#include "core/nccl/xml_reader.h"

namespace drydock {
namespace {

Result<int> LinkCount(const HostKind& kind, const GpuSpec& gpu) {
  const ScaleUp& scale_up = kind.scale_up;
  if (scale_up.kind == ScaleUpKind::kPcie) return 0;
  const Bandwidth one = NvLinkRate(gpu.compute_capability);
  const int64_t all = scale_up.bandwidth.bits_per_second();
  if (all < one.bits_per_second() || all % one.bits_per_second() != 0) {
    return Error(fmt::format(
        "host '{}': {} of scale-up bandwidth is not a whole number of NVLinks of {} each",
        kind.name, ToString(scale_up.bandwidth), ToString(one)));
  }
  if (scale_up.kind == ScaleUpKind::kNvSwitch && scale_up.switches < 1) {
    return Error(fmt::format("host '{}' has NVSwitch as scale-up but no NVSwitches", kind.name));
  }
  return static_cast<int>(all / one.bits_per_second());
}

std::string Text(const XmlElement& element, std::string_view attribute) {
  const XmlAttribute* found = element.Find(attribute);
  return found == nullptr ? std::string() : found->value;
}
int Number(const XmlElement& element, std::string_view attribute, int fallback) {
  const std::string text = Text(element, attribute);
  std::from_chars(text.data(), text.data() + text.size(), fallback);
  return fallback;
}

// Checks what involves several elements: GPUs, NICs and NVLinks of the whole host.
class Surveyor {
 public:
  Surveyor(const std::string& text, int capability) : text_(text), capability_(capability) {}

  Status Survey(const XmlElement& system, NcclHost* host) {
    Visit(system, "");
    CheckLinks();
    if (gpus_.empty() && diagnostics_.ok()) Fail(system, "this <system> has no <gpu>");
    for (const auto& [dev, bus_id] : gpus_) host->gpu_bus_ids.push_back(bus_id);
    for (const auto& [dev, nic] : nics_) host->nics.push_back(nic);
    return diagnostics_.ToStatus();
  }

 private:
  void Fail(const XmlElement& element, std::string message) {
    diagnostics_.Add(Error(std::move(message), element.location, LineOf(text_, element.location)));
  }
  template <class Set, class Value>
  void RequireUnique(Set* seen, const Value& value, const XmlElement& element,
                     std::string_view attribute) {
    if (seen->insert(value).second) return;
    Fail(element, fmt::format("another <{}> has the {} '{}' already", element.name, attribute,
                              Text(element, attribute)));
  }

  void Visit(const XmlElement& element, std::string bus_id) {
    if (element.name == "cpu") {
      RequireUnique(&processors_, Text(element, "numaid"), element, "numaid");
    }
    if (element.name == "pci") {
      bus_id = NormalBusId(Text(element, "busid"));
      RequireUnique(&devices_, bus_id, element, "busid");
    }
    if (element.name == "gpu") VisitGpu(element, bus_id);
    if (element.name == "net") VisitNic(element, bus_id);
    for (const XmlElement& child : element.children) Visit(child, bus_id);
  }

  void VisitGpu(const XmlElement& gpu, const std::string& bus_id) {
    RequireUnique(&gpu_numbers_, Text(gpu, "dev"), gpu, "dev");
    gpus_[Number(gpu, "dev", 0)] = bus_id;
    if (capability_ > 0 && Number(gpu, "sm", 0) != capability_) {
      Fail(gpu, fmt::format("this GPU has compute capability {}, the GPU of the cluster file {}",
                            Text(gpu, "sm"), capability_));
    }
    for (const XmlElement& link : gpu.children) {
      if (link.name != "nvlink" || !Text(link, "tclass").starts_with("0x03")) continue;
      const std::string target = NormalBusId(Text(link, "target"));
      if (target.empty() || target == bus_id) {
        Fail(link, "the target of this <nvlink> is not another GPU");
      } else {
        RequireUnique(&links_of_[bus_id], target, link, "target");
        link_elements_.emplace_back(bus_id, &link);
      }
    }
  }

  void VisitNic(const XmlElement& nic, const std::string& bus_id) {
    RequireUnique(&nic_numbers_, Text(nic, "dev"), nic, "dev");
    RequireUnique(&nic_names_, Text(nic, "name"), nic, "name");
    const int speed = Number(nic, "speed", 0);
    // 10 Gb/s is NCCL's own assumption if the driver does not state the speed (graph/topo.cc).
    nics_[Number(nic, "dev", 0)] = {Text(nic, "name"), bus_id, speed > 0 ? speed : 10'000};
  }

  // Every NVLink must have one back. NCCL ignores NVLinks to GPUs that are not in the file.
  void CheckLinks() {
    for (const auto& [from, link] : link_elements_) {
      const std::string to = NormalBusId(Text(*link, "target"));
      const auto back = links_of_.find(to);
      const bool here = devices_.count(to) > 0;
      if (here && (back == links_of_.end() || back->second.count(from) == 0)) {
        Fail(*link, fmt::format("the GPU {} has no <nvlink> back to {}", to, from));
      }
    }
  }

  const std::string& text_;
  const int capability_;
  Diagnostics diagnostics_;
  std::set<std::string> processors_, devices_, gpu_numbers_, nic_numbers_, nic_names_;
  std::map<int, std::string> gpus_;  // bus id by "dev"
  std::map<int, NcclHost::Nic> nics_;
  std::map<std::string, std::set<std::string>> links_of_;
  std::vector<std::pair<std::string, const XmlElement*>> link_elements_;
};

Status CheckCounts(const HostKind& kind, const NcclHost& host) {
  const int gpus = static_cast<int>(host.gpu_bus_ids.size());
  const int nics = static_cast<int>(host.nics.size());
  if (gpus == kind.gpus_per_tray() && nics == kind.nics_per_tray()) return OkStatus();
  return Error(fmt::format("{} '{}' has {} GPUs and {} NICs, but its NCCL topology has {} and {}",
                           kind.trays > 1 ? "a tray of host" : "host", kind.name,
                           kind.gpus_per_tray(), kind.nics_per_tray(), gpus, nics),
               {kind.nccl_topology_file, 0, 0});
}

Result<NcclHost> HostOf(const XmlElement& system, const std::string& xml, int compute_capability) {
  NcclHost host;
  RETURN_IF_ERROR(Surveyor(xml, compute_capability).Survey(system, &host));
  host.xml = WriteTopology(system);
  return host;
}

// Reads the XML of a real machine, and completes it from the kind of host.
Result<NcclHost> ReadDump(const HostKind& kind, const GpuSpec& gpu) {
  const std::string& xml = kind.nccl_topology_xml;
  ASSIGN_OR_RETURN(XmlElement system, ParseXml(xml, kind.nccl_topology_file));
  RETURN_IF_ERROR(CheckElements(system, xml));
  RETURN_IF_ERROR(CompleteTopology(kind, gpu, LinkCount(kind, gpu), &system));
  return HostOf(system, xml, gpu.compute_capability);
}

// Every tray equals the first, except for the GUIDs of the NICs, which libhacknccl assigns.
void RepeatTrays(int trays, NcclHost* host) {
  constexpr std::string_view kGuid = " guid=\"";
  for (size_t at = 0; trays > 1 && (at = host->xml.find(kGuid)) != std::string::npos;) {
    host->xml.erase(at, host->xml.find('"', at + kGuid.size()) + 1 - at);
  }
  const auto gpus = host->gpu_bus_ids;
  const auto nics = host->nics;
  host->trays = trays;
  for (int tray = 1; tray < trays; ++tray) {
    host->gpu_bus_ids.insert(host->gpu_bus_ids.end(), gpus.begin(), gpus.end());
    host->nics.insert(host->nics.end(), nics.begin(), nics.end());
  }
}

}  // namespace

Result<NcclHost> ParseTopologyXml(const std::string& xml, const std::string& file_name,
                                  int compute_capability) {
  ASSIGN_OR_RETURN(const XmlElement system, ParseXml(xml, file_name));
  RETURN_IF_ERROR(CheckElements(system, xml));
  return HostOf(system, xml, compute_capability);
}

Result<NcclHost> DescribeHost(const HostKind& kind, const GpuSpec& gpu) {
  NcclHost host;
  if (kind.nccl_topology_xml.empty()) {
    ASSIGN_OR_RETURN(const int links, LinkCount(kind, gpu));
    host = WriteHostXml(kind, gpu, links);
    const auto checked = ParseTopologyXml(host.xml, kind.name, gpu.compute_capability);
    if (!checked.ok()) {
      return Error(
          fmt::format("host '{}' is too large for NCCL: {}", kind.name, checked.error().message()));
    }
  } else {
    ASSIGN_OR_RETURN(host, ReadDump(kind, gpu));
    RETURN_IF_ERROR(CheckCounts(kind, host));
  }
  RepeatTrays(kind.trays, &host);
  host.compute_capability = gpu.compute_capability;
  host.sm_count = gpu.sms;
  host.memory_bytes = gpu.memory.count();
  host.multicast = kind.scale_up.multicast;
  return host;
}

}  // namespace drydock
