#include "core/nccl/topology_completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "core/nccl/host_xml.h"
#include "core/nccl/topology_rules.h"

namespace drydock {
namespace {

struct Survey {
  bool has_gpu = false, has_net = false;
  std::vector<XmlElement*> gpus, nics;  // <pci> elements without a <gpu> or <nic>
};

void Visit(XmlElement* element, Survey* survey) {
  if (element->name == "gpu") survey->has_gpu = true;
  if (element->name == "net") survey->has_net = true;
  if (element->name == "pci" && element->children.empty()) {
    const XmlAttribute* device = element->Find("class");
    if (device->value.starts_with("0x0302") || device->value.starts_with("0x0300")) {
      survey->gpus.push_back(element);
    }
    if (device->value.starts_with("0x0207") || device->value.starts_with("0x0200")) {
      survey->nics.push_back(element);
    }
  }
  for (XmlElement& child : element->children) Visit(&child, survey);
}

std::string BusIdOf(const XmlElement& pci) { return NormalBusId(pci.Find("busid")->value); }

void SortByBusId(std::vector<XmlElement*>* devices) {
  std::sort(devices->begin(), devices->end(),
            [](const XmlElement* a, const XmlElement* b) { return BusIdOf(*a) < BusIdOf(*b); });
}

XmlElement Element(const XmlElement& at, std::string name,
                   std::initializer_list<std::pair<const char*, std::string>> attributes) {
  XmlElement element;
  element.name = std::move(name);
  element.location = at.location;
  for (const auto& [key, value] : attributes) {
    element.attributes.push_back({key, value, at.location});
  }
  return element;
}

Status CheckCount(const HostKind& kind, const char* what, size_t found, int wanted) {
  if (static_cast<int>(found) == wanted) return OkStatus();
  return Error(
      fmt::format("the NCCL topology has no <{}> and {} PCI devices that could be one, but {} '{}' "
                  "has {}; write the numbers of this machine into the cluster file, or dump the "
                  "file with NCCL_TOPO_DUMP_FILE",
                  what, found, kind.trays > 1 ? "a tray of host" : "host", kind.name, wanted),
      {kind.nccl_topology_file, 0, 0});
}

void AddGpus(const HostKind& kind, const GpuSpec& gpu, int links,
             const std::vector<XmlElement*>& devices) {
  std::vector<std::string> bus_ids;
  for (const XmlElement* device : devices) bus_ids.push_back(BusIdOf(*device));
  for (size_t g = 0; g < devices.size(); ++g) {
    XmlElement& pci = *devices[g];
    XmlElement added = Element(pci, "gpu",
                               {{"dev", fmt::format("{}", g)},
                                {"sm", fmt::format("{}", gpu.compute_capability)},
                                {"gdr", "1"}});
    for (const HostNvLinks& link : NvLinksOf(kind, links, bus_ids, static_cast<int>(g))) {
      added.children.push_back(Element(pci, "nvlink",
                                       {{"target", link.target},
                                        {"count", fmt::format("{}", link.count)},
                                        {"tclass", link.device_class}}));
    }
    pci.children.push_back(std::move(added));
  }
}

void AddNics(const HostKind& kind, const std::vector<XmlElement*>& devices) {
  for (size_t n = 0; n < devices.size(); ++n) {
    XmlElement& pci = *devices[n];
    XmlElement nic = Element(pci, "nic", {});
    nic.children.push_back(
        Element(pci, "net",
                {{"name", fmt::format("mlx5_{}", n)},
                 {"dev", fmt::format("{}", n)},
                 {"latency", "0.000000"},
                 {"speed", fmt::format("{}", kind.nics.rate.bits_per_second() / 1'000'000)},
                 {"port", "1"},
                 {"guid", fmt::format("0x{:x}", 0x1000 + n)},
                 {"maxconn", "131072"},
                 {"gdr", "1"}}));
    pci.children.push_back(std::move(nic));
  }
}

}  // namespace

Status CompleteTopology(const HostKind& kind, const GpuSpec& gpu, const Result<int>& links,
                        XmlElement* system) {
  Survey survey;
  Visit(system, &survey);
  if (!survey.has_gpu) {
    if (!links.ok()) return links.error();
    RETURN_IF_ERROR(CheckCount(kind, "gpu", survey.gpus.size(), kind.gpus_per_tray()));
  }
  if (!survey.has_net) {
    RETURN_IF_ERROR(CheckCount(kind, "net", survey.nics.size(), kind.nics_per_tray()));
  }
  SortByBusId(&survey.gpus);
  SortByBusId(&survey.nics);
  if (!survey.has_gpu) AddGpus(kind, gpu, *links, survey.gpus);
  if (!survey.has_net) AddNics(kind, survey.nics);
  return OkStatus();
}

}  // namespace drydock
