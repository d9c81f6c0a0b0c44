#include "core/schema/host/host_launch_file.h"

#include <fmt/format.h>

#include "core/base/yaml.h"
#include "core/model/submodule.h"

namespace drydock {
namespace {

using NamedTime = std::pair<const char*, Time*>;

void Bound(const NamedTime& entry, YamlReader* reader) {
  const auto& [key, time] = entry;
  if (*time > kMaxLaunchTime) reader->Fail(key, fmt::format("'{}' is more than a second", key));
}

void ReadTime(const NamedTime& entry, YamlReader* reader) {
  reader->Read(entry.first, entry.second);
  Bound(entry, reader);
}

void ReadOptionalTime(const NamedTime& entry, YamlReader* reader) {
  reader->ReadOptional(entry.first, entry.second);
  Bound(entry, reader);
}

ModuleCost ReadModule(const std::string& name, const YamlNode& node, Diagnostics* diagnostics) {
  ModuleCost cost;
  YamlReader reader(node, name, diagnostics);
  for (const NamedTime& entry :
       {NamedTime("forward", &cost.forward), NamedTime("backward", &cost.backward),
        NamedTime("once", &cost.once), NamedTime("tensor", &cost.tensor),
        NamedTime("expert_forward", &cost.expert_forward),
        NamedTime("expert_backward", &cost.expert_backward)}) {
    ReadOptionalTime(entry, &reader);
  }
  reader.Finish();
  return cost;
}

std::map<std::string, ModuleCost> ReadModules(const YamlNode& node, Diagnostics* diagnostics) {
  std::map<std::string, ModuleCost> modules;
  YamlReader reader(node, "modules", diagnostics);
  for (const std::string& name : HostModuleNames()) {
    if (const YamlNode* module = reader.Take(name, /*required=*/false)) {
      modules[name] = ReadModule(name, *module, diagnostics);
    }
  }
  reader.Finish();
  return modules;
}

HostLaunchSet ReadSet(const std::string& name, const YamlNode& node, Diagnostics* diagnostics) {
  HostLaunchSet set;
  HostLaunch& launch = set.launch;
  launch.name = name;
  YamlReader reader(node, name, diagnostics);
  for (const NamedTime& entry :
       {NamedTime("kernel", &launch.kernel), NamedTime("collective", &launch.collective),
        NamedTime("message", &launch.message), NamedTime("graph", &launch.graph),
        NamedTime("loop", &launch.loop), NamedTime("wait", &launch.wait),
        NamedTime("latency", &launch.latency)}) {
    ReadTime(entry, &reader);
  }
  launch.backward_kernel = launch.kernel;
  ReadOptionalTime({"backward_kernel", &launch.backward_kernel}, &reader);
  launch.expert = launch.loop;
  ReadOptionalTime({"expert", &launch.expert}, &reader);
  ReadOptionalTime({"fill", &set.fill}, &reader);
  ReadOptionalTime({"step", &set.step}, &reader);
  ReadOptionalTime({"step_delay", &set.step_delay}, &reader);
  if (const YamlNode* modules = reader.Take("modules", /*required=*/false)) {
    set.modules = ReadModules(*modules, diagnostics);
  }
  reader.Read("queue", &launch.queue);
  reader.CheckRange("queue", launch.queue, 1, kMaxQueued);
  reader.Read("measured", &set.measured);
  if (reader.Has("kernels")) {
    const std::vector<std::string> kernels = {"fused", "unfused"};
    int choice = 0;
    reader.ReadChoice("kernels", kernels, &choice, true);
    set.kernels = kernels[static_cast<size_t>(choice)];
  }
  std::string source;
  reader.Read("source", &source);
  reader.Finish();
  return set;
}

}  // namespace

const std::vector<std::string>& HostModuleNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = SubmoduleKindNames();
    for (const char* more : {"fp8-linear", "unfused-attention", "slice-of-attention"}) {
      all.emplace_back(more);
    }
    return all;
  }();
  return names;
}

Result<std::vector<HostLaunchSet>> ParseHostLaunchFile(const std::string& text,
                                                       const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Diagnostics diagnostics;
  YamlReader file(root, "a file of launch costs", &diagnostics);
  std::vector<HostLaunchSet> sets;
  if (const YamlNode* node = file.Take("host_launch", /*required=*/true)) {
    for (const auto& [key, value] : node->entries) {
      sets.push_back(ReadSet(key.scalar, value, &diagnostics));
    }
    if (sets.empty()) file.Fail("host_launch", "'host_launch' must name at least one set of costs");
  }
  file.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return sets;
}

}  // namespace drydock
