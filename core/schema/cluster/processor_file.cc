#include "core/schema/cluster/processor_file.h"

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/yaml.h"
#include "core/model/topology.h"
#include "core/schema/cluster/cluster_limits.h"

namespace drydock {

Result<LaunchSpeeds> ParseProcessorFile(const std::string& text, const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Diagnostics diagnostics;
  YamlReader file(root, "a file of processors", &diagnostics);
  LaunchSpeeds speeds;
  if (const YamlNode* processors = file.Take("processors", /*required=*/true)) {
    YamlReader section(*processors, "processors", &diagnostics);
    for (const std::string& name : CpuNames()) {
      const YamlNode* processor = section.Take(name, /*required=*/true);
      if (processor == nullptr) continue;
      YamlReader reader(*processor, name, &diagnostics);
      std::string source;
      double& speed = speeds[name];
      reader.Read("launch_speed", &speed);
      if (speed < kMinLaunchSpeed || speed > kMaxLaunchSpeed) {
        reader.Fail("launch_speed", "'launch_speed' is a factor, from 0.05 to 100");
      }
      reader.Read("source", &source);
      reader.Finish();
    }
    section.Finish();
  }
  file.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return speeds;
}

std::string ProcessorPath() { return ConfigDirectory() + "/processors.yaml"; }

Result<LaunchSpeeds> LoadLaunchSpeeds() {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(ProcessorPath()));
  return ParseProcessorFile(text, ProcessorPath());
}

}  // namespace drydock
