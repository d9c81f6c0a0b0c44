#include "core/schema/cluster/cluster_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/spelling.h"
#include "core/schema/cluster/cluster_limits.h"
#include "core/schema/cluster/fabric_file.h"
#include "core/schema/cluster/fault_file.h"
#include "core/schema/cluster/gpu_file.h"
#include "core/schema/cluster/gpu_limits_file.h"
#include "core/schema/cluster/host_file.h"
#include "core/schema/cluster/nic_file.h"
#include "core/schema/cluster/processor_file.h"
#include "core/schema/cluster/simai_cluster.h"
#include "core/schema/cluster/transport_file.h"
#include "core/schema/fabric/limits.h"
#include "core/schema/site/cost_file.h"
#include "core/schema/site/storage_file.h"

namespace drydock {
namespace {

const std::vector<std::string> kSections = {"cluster", "hosts", "fabric", "transport", "faults",
                                            "jitter",  "nccl",  "cost",   "storage"};

// The source of the files that a cluster names: the disk, or an artefact's copies.
using FileSource = std::function<Result<std::string>(const std::string& name)>;

struct ClusterContext {
  Diagnostics diagnostics;
  ClusterInput input;
  FileSource source;
  NicDefaults nics;
  LaunchSpeeds launch_speeds;
};

// Returns the text of `name` and adds it to input.files. Returns nothing, and reports at `node`, on
// an error.
std::optional<std::string> FetchFile(const std::string& name, const YamlNode& node,
                                     ClusterContext* context) {
  for (const auto& [known, text] : context->input.files) {
    if (known == name) return text;
  }
  Result<std::string> text = context->source(name);
  if (!text.ok()) {
    context->diagnostics.Add(node.ErrorHere(text.error().message()));
    return std::nullopt;
  }
  context->input.files.emplace_back(name, *text);
  return *text;
}

Result<GpuSpec> ReadGpu(const std::string& name, const std::string& text) {
  const std::string file = GpuFileName(name);
  ASSIGN_OR_RETURN(GpuSpec spec, ParseGpuFile(text, file));
  if (spec.name != name) {
    return Error(fmt::format("its 'name' is '{}', not '{}'", spec.name, name), {file, 0, 0});
  }
  return spec;
}

// A GPU without communication costs takes those of its reference, or of the reference's reference,
// and so on. A file without a reference has to state costs or `none` (gpu_file.cc).
void InheritCollectiveCosts(const YamlNode& node, ClusterContext* context, GpuSpec* spec) {
  std::vector<std::string> visited = {spec->name};
  std::string next = spec->reference;
  while (!spec->has_collective_costs && !next.empty()) {
    const bool is_cycle = std::find(visited.begin(), visited.end(), next) != visited.end();
    visited.push_back(next);
    if (is_cycle) {
      context->diagnostics.Add(
          node.ErrorHere(fmt::format("these GPUs are each other's reference: {}", Join(visited))));
      return;
    }
    const std::optional<std::string> text = FetchFile(GpuFileName(next), node, context);
    if (!text) return;
    const Result<GpuSpec> reference = ReadGpu(next, *text);
    if (!reference.ok()) return context->diagnostics.Add(reference.error());
    spec->has_collective_costs = reference->has_collective_costs;
    spec->collectives = reference->collectives;
    next = reference->reference;
  }
}

// Returns the index of the GPU in the topology; reads its file the first time. -1 on an error.
int FindGpu(const YamlNode& node, ClusterContext* context) {
  std::vector<GpuSpec>& gpus = context->input.topology.gpus;
  const Result<std::string> name = AsString(node);
  if (!name.ok()) {
    context->diagnostics.Add(name.error());
    return -1;
  }
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i].name == *name) return static_cast<int>(i);
  }
  const std::optional<std::string> text = FetchFile(GpuFileName(*name), node, context);
  if (!text) return -1;
  Result<GpuSpec> spec = ReadGpu(*name, *text);
  if (!spec.ok()) {
    context->diagnostics.Add(spec.error());
    return -1;
  }
  if (!spec->reference.empty()) {
    const auto reference = FetchFile(GpuFileName(spec->reference), node, context);
    spec->reference_text = reference.value_or("");
    InheritCollectiveCosts(node, context, &*spec);
  }
  gpus.push_back(*std::move(spec));
  return static_cast<int>(gpus.size()) - 1;
}

void ReadHostKind(const YamlNode& name, const YamlNode& node, ClusterContext* context) {
  HostKind kind;
  kind.name = name.scalar;
  YamlReader reader(node, kind.name, &context->diagnostics);
  if (const YamlNode* gpu = reader.Take("gpu", true)) kind.gpu = FindGpu(*gpu, context);
  const auto& gpus = context->input.topology.gpus;
  const GpuSpec* spec =
      kind.gpu >= 0 && !gpus.empty() ? &gpus[static_cast<size_t>(kind.gpu)] : nullptr;
  ReadHost(&reader, spec, context->nics, &kind, &context->diagnostics);
  const YamlNode* board = node.Find("board");
  if (spec != nullptr && (board == nullptr || board->Find("launch_speed") == nullptr)) {
    kind.board.launch_speed = context->launch_speeds.at(kind.CpuName(spec->compute_capability));
  }
  if (const YamlNode* xml = reader.Take("nccl_topology", false)) {
    const Result<std::string> file = AsString(*xml);
    if (file.ok()) {
      kind.nccl_topology_file = *file;
      kind.nccl_topology_xml = FetchFile(*file, *xml, context).value_or("");
    } else {
      context->diagnostics.Add(file.error());
    }
  }
  reader.Finish();
  context->input.topology.host_kinds.push_back(std::move(kind));
}

void ReadClusterSection(const YamlNode& node, ClusterContext* context) {
  Topology& topology = context->input.topology;
  YamlReader reader(node, "cluster", &context->diagnostics);
  std::string host;
  int hosts = 0;
  reader.ReadOptional("name", &topology.name);
  reader.Read("host", &host);
  reader.Read("hosts", &hosts);
  reader.CheckRange("hosts", hosts, 1, kMaxHosts);
  reader.Finish();
  std::vector<std::string> names;
  int found = -1;
  for (size_t i = 0; i < topology.host_kinds.size(); ++i) {
    names.push_back(topology.host_kinds[i].name);
    if (names.back() == host) found = static_cast<int>(i);
  }
  if (found < 0 && !names.empty()) {
    reader.Fail("host", fmt::format("there is no host kind '{}'{}; 'hosts' describes {}", host,
                                    DidYouMean(host, names), Join(names)));
  }
  if (found >= 0 && hosts >= 1 && hosts <= kMaxHosts) {
    topology.hosts.assign(static_cast<size_t>(hosts), found);
  }
}

void ReadJitter(const YamlNode& node, Jitter* jitter, Diagnostics* diagnostics) {
  YamlReader reader(node, "jitter", diagnostics);
  reader.ReadOptional("compute", &jitter->compute);
  if (!(jitter->compute >= 0 && jitter->compute <= kMaxJitter)) {
    reader.Fail("compute", "'compute' is a standard deviation as a share, from 0 to 0.3");
  }
  reader.ReadOptional("call", &jitter->call);
  if (jitter->call > kMaxCallDelay) {
    reader.Fail("call", fmt::format("'call' is {}; it must be at most {}", ToString(jitter->call),
                                    ToString(kMaxCallDelay)));
  }
  reader.ReadOptional("seed", &jitter->seed);
  if (jitter->seed < 0) reader.Fail("seed", "'seed' must not be negative");
  reader.Finish();
}

void ReadNccl(const YamlNode& node, ClusterInput* input, Diagnostics* diagnostics) {
  YamlReader reader(node, "nccl", diagnostics);
  if (const YamlNode* settings = reader.Take("settings", true)) {
    if (settings->kind != YamlNode::Kind::kMap) {
      reader.Fail("settings", "'settings' must be a section of NCCL_... keys and values");
    }
    for (const auto& [key, value] : settings->entries) {
      if (!key.scalar.starts_with("NCCL_")) {
        diagnostics->Add(key.ErrorHere(fmt::format(
            "'{}' is not an NCCL setting; names of settings begin with NCCL_", key.scalar)));
      }
      const Result<std::string> text = AsString(value);
      if (text.ok())
        input->nccl_settings.emplace_back(key, value);
      else
        diagnostics->Add(text.error());
    }
  }
  reader.Finish();
  std::sort(input->nccl_settings.begin(), input->nccl_settings.end(),
            [](const auto& a, const auto& b) { return a.first.scalar < b.first.scalar; });
  for (const auto& [name, value] : input->nccl_settings) {
    input->topology.nccl_settings.emplace_back(name.scalar, value.scalar);
  }
}

// Reports a NIC of several ports whose cables carry less than its ports do, as with a leaf at the
// rate of one port.
void CheckPorts(const YamlNode& hosts, const Topology& topology, Diagnostics* diagnostics) {
  for (size_t kind = 0; kind < topology.host_kinds.size(); ++kind) {
    const YamlNode* nics = hosts.entries[kind].second.Find("nics");
    const YamlNode* ports = nics == nullptr ? nullptr : nics->Find("ports");
    const auto host = std::find(topology.hosts.begin(), topology.hosts.end(), kind);
    if (ports == nullptr || host == topology.hosts.end() || topology.fabric.links.empty()) continue;
    const LinkEnd first = {false, static_cast<int>(host - topology.hosts.begin()), 0};
    int64_t carried = 0;
    for (const FabricLink& link : topology.fabric.links) {
      if (link.a == first || link.b == first) carried += link.rate.bits_per_second();
    }
    const Bandwidth rate = topology.host_kinds[kind].nics.rate;
    if (carried >= rate.bits_per_second()) continue;
    diagnostics->Add(ports->ErrorHere(fmt::format(
        "the ports of a NIC carry {} together, and its cables {}; write the sum as 'rate' of the "
        "switches (the cables of a NIC are one), or 'planes: {}' for a fabric on each port",
        ToString(rate), ToString(Bandwidth::BitsPerSecond(carried)), ports->scalar)));
  }
}

Result<ClusterInput> ReadCluster(const YamlNode& root, FileSource source) {
  ClusterContext context;
  context.source = std::move(source);
  ASSIGN_OR_RETURN(context.nics, LoadNicDefaults());
  ASSIGN_OR_RETURN(context.launch_speeds, LoadLaunchSpeeds());
  context.input.yaml = ToYaml(root);
  Topology& topology = context.input.topology;
  YamlReader reader(root, "the cluster", &context.diagnostics);
  const YamlNode* cluster = reader.Take("cluster", true);
  const YamlNode* hosts = reader.Take("hosts", true);
  const YamlNode* fabric = reader.Take("fabric", false);
  if (hosts != nullptr) {
    for (const auto& [name, node] : hosts->entries) ReadHostKind(name, node, &context);
    if (hosts->kind != YamlNode::Kind::kMap)
      reader.Fail("hosts", "'hosts' must be a section");
    else if (hosts->entries.empty())
      reader.Fail("hosts", "'hosts' describes no host");
  }
  if (cluster != nullptr) ReadClusterSection(*cluster, &context);
  if (const YamlNode* node = reader.Take("transport", false)) {
    ReadTransport(*node, &topology.transport, &context.diagnostics);
  }
  if (const YamlNode* node = reader.Take("nccl", false)) {
    ReadNccl(*node, &context.input, &context.diagnostics);
  }
  if (const YamlNode* node = reader.Take("jitter", false)) {
    ReadJitter(*node, &context.input.variation.jitter, &context.diagnostics);
  }
  const YamlNode* faults = reader.Take("faults", false);
  const YamlNode* cost = reader.Take("cost", false);
  if (const YamlNode* node = reader.Take("storage", false)) {
    ReadStorage(*node, &topology.storage.emplace(), &context.diagnostics);
  }
  reader.Finish();
  RETURN_IF_ERROR(context.diagnostics.ToStatus());
  if (fabric != nullptr)
    ReadFabric(
        *fabric,
        [&context](const std::string& name, const YamlNode& node) {
          return FetchFile(name, node, &context);
        },
        &topology, &context.diagnostics);
  else if (topology.host_count() > 1)
    reader.Fail("fabric", "several hosts need a 'fabric'");
  RETURN_IF_ERROR(context.diagnostics.ToStatus());
  if (hosts != nullptr) CheckPorts(*hosts, topology, &context.diagnostics);
  if (faults != nullptr)
    ReadFaults(*faults, &topology, &context.input.variation.slow_gpus, &context.diagnostics);
  if (cost != nullptr) {
    ReadCost(*cost, PricedPartsOf(topology, OwnPowerLimit(topology)), &topology.cost.emplace(),
             &context.input.notes, &context.diagnostics);
  }
  RETURN_IF_ERROR(context.diagnostics.ToStatus());
  const Status connected = CheckConnected(topology);
  if (!connected.ok()) return (fabric ? *fabric : root).ErrorHere(connected.error().message());
  return context.input;
}

std::vector<std::string> KnownGpus(const std::vector<std::string>& directories) {
  std::vector<std::string> names;
  for (const std::string& directory : directories) {
    std::error_code error;
    for (std::filesystem::directory_iterator at(directory + "/gpus", error), end;
         !error && at != end; at.increment(error)) {
      if (at->path().extension() == ".yaml") names.push_back(at->path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// The text of the error contains the path, because its location is the name in the cluster file.
Result<std::string> ReadNamedFile(const std::string& path) {
  Result<std::string> text = ReadFile(path);
  if (!text.ok()) return Error(fmt::format("'{}': {}", path, text.error().message()));
  return text;
}

// Reads a GPU file by its name under a configs folder, any other file relative to the cluster file.
Result<std::string> FetchFromDisk(const std::string& cluster_path, const std::string& name) {
  const std::string here = DirectoryOf(cluster_path);
  if (!name.starts_with("gpus/")) {
    return ReadNamedFile((std::filesystem::path(here) / name).string());
  }
  const std::vector<std::string> directories = {here + "/..", here, ConfigDirectory()};
  for (const std::string& directory : directories) {
    if (FileExists(directory + "/" + name)) return ReadNamedFile(directory + "/" + name);
  }
  const std::string gpu = name.substr(5, name.size() - 10);  // without gpus/ and .yaml
  const std::vector<std::string> known = KnownGpus(directories);
  return Error(fmt::format("there is no specification of the GPU '{}'{}; known are {}", gpu,
                           DidYouMean(gpu, known), Join(known)));
}

// Gives a cluster without a name the name of its file, also in the stored text.
void NameAfterFile(const std::string& path, YamlNode* root) {
  for (auto& [key, section] : root->entries) {
    if (key.scalar != "cluster" || section.kind != YamlNode::Kind::kMap) continue;
    if (section.Find("name") != nullptr) return;
    YamlNode name, value;
    name.kind = value.kind = YamlNode::Kind::kScalar;
    name.scalar = "name";
    value.scalar = std::filesystem::path(path).stem().string();
    section.entries.emplace_back(std::move(name), std::move(value));
    return;
  }
}

// Applies the overrides that name settings of SimAI, or the others.
Status ApplyOverrides(const std::vector<std::string>& overrides, bool of_conf, YamlNode* root) {
  for (const std::string& assignment : overrides) {
    if (assignment.starts_with("fabric.conf=") != of_conf) continue;
    RETURN_IF_ERROR(ApplyOverride(assignment, root));
  }
  return OkStatus();
}

// The sections that a topology file of SimAI and its settings stand for. Settings that lie beside
// the topology count unless an override names others.
Result<YamlNode> SectionsOfSimai(const std::string& text, const std::string& path,
                                 const std::vector<std::string>& overrides,
                                 std::vector<std::string>* notes) {
  ASSIGN_OR_RETURN(YamlNode root, ClusterOfSimai(text, path));
  RETURN_IF_ERROR(ApplyOverrides(overrides, true, &root));
  const std::vector<std::string> beside = SimaiConfsBeside(path);
  if (root.Find("fabric")->Find("conf") == nullptr && !beside.empty()) {
    RETURN_IF_ERROR(ApplyOverride(fmt::format("fabric.conf=[{}]", Join(beside)), &root));
    notes->push_back(
        fmt::format("{} beside the topology is read; --set fabric.conf=FILE names "
                    "another file",
                    Join(beside, " and ")));
  }
  RETURN_IF_ERROR(ApplySimaiConfs(path, true, &root, notes));
  RETURN_IF_ERROR(ApplyOverrides(overrides, false, &root));
  return root;
}

// Reads the sections of a file and applies the overrides.
Result<YamlNode> LoadSections(const std::string& path, const std::vector<std::string>& overrides,
                              std::vector<std::string>* notes) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  if (IsSimaiTopology(text)) return SectionsOfSimai(text, path, overrides, notes);
  ASSIGN_OR_RETURN(YamlNode root, ParseYaml(text, path));
  RETURN_IF_ERROR(ApplyOverrides(overrides, true, &root));
  RETURN_IF_ERROR(ApplyOverrides(overrides, false, &root));
  RETURN_IF_ERROR(ApplySimaiConfs(path, false, &root, notes));
  return root;
}

}  // namespace

Result<ClusterInput> LoadCluster(const std::string& path,
                                 const std::vector<std::string>& overrides) {
  std::vector<std::string> notes;
  ASSIGN_OR_RETURN(YamlNode root, LoadSections(path, overrides, &notes));
  NameAfterFile(path, &root);
  ASSIGN_OR_RETURN(ClusterInput input, ReadCluster(root, [&](const std::string& name) {
                     return FetchFromDisk(path, name);
                   }));
  input.notes.insert(input.notes.begin(), notes.begin(), notes.end());
  return input;
}

Result<ClusterInput> ParseCluster(const std::string& yaml, const std::string& file_name,
                                  const std::vector<std::pair<std::string, std::string>>& files) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(yaml, file_name));
  return ReadCluster(root, [&](const std::string& name) -> Result<std::string> {
    for (const auto& [known, text] : files) {
      if (known == name) return text;
    }
    return Error(fmt::format("there is no copy of '{}'", name));
  });
}

bool IsClusterOverride(const std::string& assignment) {
  const std::string section = assignment.substr(0, assignment.find_first_of(".="));
  return std::find(kSections.begin(), kSections.end(), section) != kSections.end();
}

Status CheckClusterOverrides(const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    if (IsClusterOverride(assignment)) continue;
    return Error(fmt::format("--set {}: no such section; sections are {} (cluster.topo)",
                             assignment, Join(kSections)));
  }
  return OkStatus();
}

}  // namespace drydock
