#include "exec-engine/collective-perf/process_launch.h"

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/yaml.h"
#include "core/model/host_launch.h"

namespace drydock {

Result<Time> ParseLaunchTime(const std::string& text, const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Diagnostics diagnostics;
  YamlReader file(root, "a file of nccl-tests", &diagnostics);
  Time time;
  if (const YamlNode* section = file.Take("nccl_tests", /*required=*/true)) {
    YamlReader tests(*section, "nccl_tests", &diagnostics);
    if (const YamlNode* launch = tests.Take("launch", /*required=*/true)) {
      YamlReader reader(*launch, "launch", &diagnostics);
      std::string source;
      reader.Read("time", &time);
      if (reader.Has("time") && (time <= Time() || time > kMaxLaunchTime)) {
        reader.Fail("time", "'time' must be more than 0 and at most a second");
      }
      reader.Read("source", &source);
      reader.Finish();
    }
    tests.Finish();
  }
  file.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return time;
}

std::string LaunchTimePath() { return ConfigDirectory() + "/nccl-tests.yaml"; }

Result<Time> LoadLaunchTime() {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(LaunchTimePath()));
  return ParseLaunchTime(text, LaunchTimePath());
}

Status CheckProcesses(int gpus, const std::vector<Group>& groups, const Topology& topology) {
  const Placement placement(topology);
  for (const Group& group : groups) {
    std::vector<int> members(static_cast<size_t>(topology.host_count()));
    for (const int rank : group.ranks) ++members[static_cast<size_t>(placement.of(rank).host)];
    for (size_t host = 0; host < members.size(); ++host) {
      if (members[host] % gpus == 0) continue;
      return Error(
          fmt::format("-g {}: the {} GPUs of host {} cannot be divided among processes of "
                      "{}; write a divisor of {}",
                      gpus, members[host], host, gpus, members[host]));
    }
  }
  return OkStatus();
}

}  // namespace drydock
