#include "core/schema/cluster/host_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/base/scan.h"
#include "core/schema/cluster/cluster_limits.h"
#include "core/schema/cluster/gpu_limits_file.h"
#include "core/schema/fabric/limits.h"
#include "core/schema/host/host_memory_file.h"

namespace drydock {
namespace {

// Returns the host's NVLinks per GPU: the scale-up bandwidth in links. Returns 0, and reports, if
// this is not a whole number or exceeds the links of the GPU.
int CountLinks(const ScaleUp& scale_up, const GpuSpec& gpu, YamlReader* reader) {
  const int64_t one = NvLinkRate(gpu.compute_capability).bits_per_second();
  const int64_t all = scale_up.bandwidth.bits_per_second();
  if (gpu.nvlink.bits_per_second() == 0) {
    reader->Fail("kind", fmt::format("the GPU '{}' has no NVLink; its 'kind' is pcie", gpu.name));
    return 0;
  }
  if (all > gpu.nvlink.bits_per_second()) {
    reader->Fail("bandwidth",
                 fmt::format("{} is more than the NVLinks of a '{}' carry, {}",
                             ToString(scale_up.bandwidth), gpu.name, ToString(gpu.nvlink)));
    return 0;
  }
  if (all < one || all % one != 0) {
    reader->Fail("bandwidth", fmt::format("{} is not a whole number of NVLinks of {} each",
                                          ToString(scale_up.bandwidth),
                                          ToString(Bandwidth::BitsPerSecond(one))));
    return 0;
  }
  return static_cast<int>(all / one);
}

// Reads one entry of `links`: "0-3: 2". Returns false, and reports, if it is not a pair of GPUs.
bool ReadPair(const YamlNode& key, const YamlNode& value, int gpus, Diagnostics* diagnostics,
              MeshLink* link) {
  if (!ScanNumbers(key.scalar, {"", "-"}, {&link->a, &link->b}) || link->a == link->b ||
      link->a >= gpus || link->b >= gpus) {
    diagnostics->Add(key.ErrorHere(fmt::format(
        "'{}' is not a pair of GPUs; write '0-1'; GPUs are 0 to {}", key.scalar, gpus - 1)));
    return false;
  }
  const Result<int64_t> count = AsInteger(value);
  if (!count.ok() || *count < 1 || *count > kMaxMeshLinks) {
    diagnostics->Add(value.ErrorHere(
        fmt::format("a pair of GPUs has 1 to {} NVLinks, not '{}'", kMaxMeshLinks, value.scalar)));
    return false;
  }
  link->count = static_cast<int>(*count);
  if (link->a > link->b) std::swap(link->a, link->b);
  return true;
}

void ReadLinks(const YamlNode& node, int gpus, int links, ScaleUp* scale_up, YamlReader* reader,
               Diagnostics* diagnostics) {
  if (node.kind != YamlNode::Kind::kMap) {
    return reader->Fail("links", "'links' must be a section of pairs of GPUs and counts: {0-1: 2}");
  }
  std::vector<int> used(static_cast<size_t>(gpus), 0);
  for (const auto& [key, value] : node.entries) {
    MeshLink link;
    if (!ReadPair(key, value, gpus, diagnostics, &link)) continue;
    const bool again =
        std::any_of(scale_up->mesh.begin(), scale_up->mesh.end(),
                    [&](const MeshLink& other) { return other.a == link.a && other.b == link.b; });
    if (again) {
      diagnostics->Add(key.ErrorHere(
          fmt::format("the links of GPUs {} and {} are given twice", link.a, link.b)));
      continue;
    }
    for (const int gpu : {link.a, link.b}) used[static_cast<size_t>(gpu)] += link.count;
    scale_up->mesh.push_back(link);
  }
  for (int gpu = 0; gpu < gpus && links > 0; ++gpu) {
    const int count = used[static_cast<size_t>(gpu)];
    if (count <= links) continue;
    reader->Fail("links", fmt::format("GPU {} has {} NVLinks, but {} of scale-up bandwidth are {}",
                                      gpu, count, ToString(scale_up->bandwidth), links));
  }
  std::sort(scale_up->mesh.begin(), scale_up->mesh.end(), [](const MeshLink& x, const MeshLink& y) {
    return std::pair(x.a, x.b) < std::pair(y.a, y.b);
  });
}

// `links`: per GPU; 0 if unknown.
void ReadMesh(int gpus, int links, ScaleUp* scale_up, YamlReader* reader,
              Diagnostics* diagnostics) {
  int wiring = 0;
  reader->ReadChoice("wiring", {"even", "cube-mesh"}, &wiring, false);
  if (const YamlNode* node = reader->Take("links", false)) {
    if (reader->Has("wiring")) reader->Fail("links", "give 'wiring' or 'links', not both");
    return ReadLinks(*node, gpus, links, scale_up, reader, diagnostics);
  }
  if (links == 0 || gpus < 2) return;
  if (wiring == 1) {
    if (gpus != 8 || links != 6) {
      reader->Fail("wiring",
                   fmt::format("a cube mesh joins 8 GPUs with 6 NVLinks each, not {} with "
                               "{}; give 'links'",
                               gpus, links));
    } else {
      scale_up->mesh = CubeMesh();
    }
  } else if (links % (gpus - 1) != 0) {
    reader->Fail("kind",
                 fmt::format("{} NVLinks of a GPU cannot be shared evenly by {} others; give "
                             "'wiring' or 'links'",
                             links, gpus - 1));
  } else {
    scale_up->mesh = EvenMesh(gpus, links);
  }
}

void ReadScaleUp(const YamlNode& node, int gpus, const GpuSpec* gpu, ScaleUp* scale_up,
                 Diagnostics* diagnostics) {
  YamlReader reader(node, "scale_up", diagnostics);
  int kind = 0;
  reader.ReadChoice("kind", {"nvswitch", "nvlink-mesh", "pcie"}, &kind, true);
  scale_up->kind = static_cast<ScaleUpKind>(kind);
  const bool switched = scale_up->kind == ScaleUpKind::kNvSwitch;
  if (switched) {
    reader.Read("switches", &scale_up->switches);
    reader.CheckRange("switches", scale_up->switches, 1, kMaxNvSwitches);
  }
  reader.Read("bandwidth", &scale_up->bandwidth);
  CheckRate("bandwidth", scale_up->bandwidth, &reader);
  reader.Read("latency", &scale_up->latency);
  CheckLatency("latency", scale_up->latency, &reader);
  reader.ReadOptional("multicast", &scale_up->multicast);
  if (scale_up->multicast && (!switched || (gpu != nullptr && gpu->compute_capability < 90))) {
    reader.Fail("multicast", "only NVSwitches multicast, from Hopper on");
  }
  const bool readable = gpu != nullptr && scale_up->bandwidth.bits_per_second() > 0;
  int links = 0;
  if (scale_up->kind != ScaleUpKind::kPcie) {
    if (readable) links = CountLinks(*scale_up, *gpu, &reader);
  } else if (readable && scale_up->bandwidth.bits_per_second() > gpu->pcie.bits_per_second()) {
    reader.Fail("bandwidth",
                fmt::format("{} is more than the PCIe link of a '{}' carries, {}",
                            ToString(scale_up->bandwidth), gpu->name, ToString(gpu->pcie)));
  }
  if (scale_up->kind == ScaleUpKind::kNvLinkMesh) {
    ReadMesh(gpus, links, scale_up, &reader, diagnostics);
  }
  reader.Finish();
}

// Reads "gen5 x16".
void ReadPcie(const std::string& text, YamlReader* reader, Nics* nics) {
  if (ScanNumbers(text, {"gen", " x"}, {&nics->pcie_generation, &nics->pcie_lanes}) &&
      nics->pcie_generation >= kMinPcieGeneration && nics->pcie_generation <= kMaxPcieGeneration &&
      nics->pcie_lanes >= 1 && nics->pcie_lanes <= kMaxPcieLanes) {
    return;
  }
  reader->Fail("pcie", fmt::format("'{}' is not a PCIe link; write 'gen4 x16' (generations 3 to 6, "
                                   "1 to 16 lanes)",
                                   text));
  nics->pcie_generation = 4;
  nics->pcie_lanes = 16;
}

void ReadNics(const YamlNode& node, int gpus, int trays, Nics* nics, Diagnostics* diagnostics) {
  YamlReader reader(node, "nics", diagnostics);
  reader.Read("count", &nics->count);
  reader.CheckRange("count", nics->count, 0, kMaxNics);
  reader.Read("rate", &nics->rate);
  CheckRate("rate", nics->rate, &reader);
  int ports = 1;
  reader.ReadOptional("ports", &ports);
  reader.CheckRange("ports", ports, 1, kMaxNicPorts);
  nics->rate =
      Bandwidth::BitsPerSecond(nics->rate.bits_per_second() * std::clamp(ports, 1, kMaxNicPorts));
  std::string pcie;
  reader.Read("pcie", &pcie);
  if (!pcie.empty()) ReadPcie(pcie, &reader, nics);
  reader.Read("latency", &nics->latency);
  CheckLatency("latency", nics->latency, &reader);
  reader.ReadOptional("message", &nics->message);
  CheckLatency("message", nics->message, &reader);
  reader.Finish();
  if (gpus > 0 && nics->count > 0 && nics->count % gpus != 0 && gpus % nics->count != 0) {
    reader.Fail("count",
                fmt::format("{} NICs cannot be shared evenly by {} GPUs", nics->count, gpus));
  } else if (nics->count % trays != 0) {
    reader.Fail("count",
                fmt::format("{} NICs cannot be shared evenly by {} trays", nics->count, trays));
  }
}

void ReadBoard(const YamlNode& node, Board* board, Diagnostics* diagnostics) {
  YamlReader reader(node, "board", diagnostics);
  if (reader.Has("cpu")) {
    int cpu = 0;
    reader.ReadChoice("cpu", CpuNames(), &cpu, false);
    board->cpu = CpuNames()[static_cast<size_t>(cpu)];
  } else {
    reader.Take("cpu", false);
  }
  reader.ReadOptional("sockets", &board->sockets);
  reader.CheckRange("sockets", board->sockets, 1, kMaxSockets);
  const bool placed = reader.Has("gpus_per_switch");
  reader.ReadOptional("gpus_per_switch", &board->gpus_per_switch);
  if (placed) reader.CheckRange("gpus_per_switch", board->gpus_per_switch, 0, kMaxGpus);
  for (const auto& [key, rate] :
       {std::pair("socket_link", &board->socket_link), std::pair("c2c", &board->c2c)}) {
    const bool given = reader.Has(key);
    reader.ReadOptional(key, rate);
    if (given) CheckRate(key, *rate, &reader);
  }
  reader.ReadOptional("launch_speed", &board->launch_speed);
  if (board->launch_speed < kMinLaunchSpeed || board->launch_speed > kMaxLaunchSpeed) {
    reader.Fail("launch_speed", "'launch_speed' is a factor, from 0.05 to 100");
  }
  reader.Finish();
}

}  // namespace

void ReadHost(YamlReader* reader, const GpuSpec* gpu, const NicDefaults& defaults, HostKind* kind,
              Diagnostics* diagnostics) {
  reader->Read("gpus", &kind->gpus);
  reader->CheckRange("gpus", kind->gpus, 1, kMaxGpus);
  reader->ReadOptional("trays", &kind->trays);
  reader->CheckRange("trays", kind->trays, 1, kMaxTrays);
  kind->gpus = std::clamp(kind->gpus, 1, kMaxGpus);
  kind->trays = std::clamp(kind->trays, 1, kMaxTrays);
  if (kind->gpus % kind->trays != 0) {
    reader->Fail("trays", fmt::format("{} GPUs cannot be shared evenly by {} trays", kind->gpus,
                                      kind->trays));
  }
  ReadGpuLimits(reader, gpu, &kind->limits);
  if (const YamlNode* scale_up = reader->Take("scale_up", true)) {
    ReadScaleUp(*scale_up, kind->gpus, gpu, &kind->scale_up, diagnostics);
    if (kind->trays > 1 && kind->scale_up.kind != ScaleUpKind::kNvSwitch) {
      reader->Fail("trays", "only NVSwitches span several trays");
    }
  }
  if (const YamlNode* board = reader->Take("board", false)) {
    ReadBoard(*board, &kind->board, diagnostics);
  }
  if (const YamlNode* memory = reader->Take("memory", false)) {
    ReadHostMemory(*memory, &kind->memory, diagnostics);
  }
  if (const YamlNode* nics = reader->Take("nics", false)) {
    kind->nics.message = defaults.message;
    ReadNics(*nics, kind->gpus, kind->trays, &kind->nics, diagnostics);
  }
}

}  // namespace drydock
