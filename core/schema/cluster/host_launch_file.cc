#include "core/schema/cluster/host_launch_file.h"

#include <fmt/format.h>

#include "core/base/yaml.h"

namespace drydock {
namespace {

HostLaunch ReadSet(const std::string& name, const YamlNode& node, Diagnostics* diagnostics) {
  HostLaunch set;
  set.name = name;
  YamlReader reader(node, name, diagnostics);
  const std::pair<const char*, Time*> times[] = {
      {"kernel", &set.kernel},   {"collective", &set.collective},
      {"message", &set.message}, {"graph", &set.graph},
      {"loop", &set.loop},       {"wait", &set.wait},
      {"latency", &set.latency}};
  for (const auto& [key, time] : times) {
    reader.Read(key, time);
    if (*time > kMaxLaunchTime) reader.Fail(key, fmt::format("'{}' is more than a second", key));
  }
  set.backward_kernel = set.kernel;
  reader.ReadOptional("backward_kernel", &set.backward_kernel);
  if (set.backward_kernel > kMaxLaunchTime) {
    reader.Fail("backward_kernel", "'backward_kernel' is more than a second");
  }
  reader.Read("queue", &set.queue);
  reader.CheckRange("queue", set.queue, 1, kMaxQueued);
  std::string source;
  reader.Read("source", &source);
  reader.Finish();
  return set;
}

}  // namespace

Result<std::vector<HostLaunch>> ParseHostLaunchFile(const std::string& text,
                                                    const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Diagnostics diagnostics;
  YamlReader file(root, "a file of launch costs", &diagnostics);
  std::vector<HostLaunch> sets;
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
