#include "core/schema/cluster/nic_file.h"

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/yaml.h"
#include "core/schema/fabric/limits.h"

namespace drydock {

Result<NicDefaults> ParseNicFile(const std::string& text, const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Diagnostics diagnostics;
  YamlReader file(root, "a file of NICs", &diagnostics);
  NicDefaults defaults;
  if (const YamlNode* nics = file.Take("nics", /*required=*/true)) {
    YamlReader section(*nics, "nics", &diagnostics);
    if (const YamlNode* message = section.Take("message", /*required=*/true)) {
      YamlReader reader(*message, "message", &diagnostics);
      std::string source;
      reader.Read("time", &defaults.message);
      CheckLatency("time", defaults.message, &reader);
      reader.Read("source", &source);
      reader.Finish();
    }
    section.Finish();
  }
  file.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return defaults;
}

std::string NicPath() { return ConfigDirectory() + "/nics.yaml"; }

Result<NicDefaults> LoadNicDefaults() {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(NicPath()));
  return ParseNicFile(text, NicPath());
}

}  // namespace drydock
