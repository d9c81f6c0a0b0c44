#include "compute-sim/gpu_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/spelling.h"
#include "core/schema/cluster/gpu_file.h"

namespace drydock {
namespace {

std::string GpuDirectory() { return ConfigDirectory() + "/gpus"; }

bool IsPath(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".yaml");
}

// The whole file of the reference; empty if there is no such file, which the caller reports.
std::string ReferenceText(const std::string& reference, const std::string& beside) {
  for (const std::string& directory : {beside, GpuDirectory()}) {
    const std::string path = directory + "/" + reference + ".yaml";
    if (!FileExists(path)) continue;
    if (Result<std::string> text = ReadFile(path); text.ok()) return *std::move(text);
  }
  return "";
}

}  // namespace

std::vector<std::string> ShippedGpuNames() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(GpuDirectory(), error)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<GpuSpec> LoadGpu(const std::string& name) {
  if (!IsPath(name)) {
    const std::vector<std::string> names = ShippedGpuNames();
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return Error(fmt::format("there is no GPU of this name{}; valid are {}, or the path of a "
                               "GPU's file",
                               DidYouMean(name, names), Join(names)),
                   {name, 0, 0});
    }
  }
  const std::string path = IsPath(name) ? name : GpuDirectory() + "/" + name + ".yaml";
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(GpuSpec spec, ParseGpuFile(text, path));
  if (!spec.reference.empty()) {
    spec.reference_text = ReferenceText(spec.reference, DirectoryOf(path));
  }
  return spec;
}

std::vector<std::string> ShippedProfiles(const std::vector<GpuSpec>& gpus) {
  std::vector<std::string> paths;
  for (const GpuSpec& spec : gpus) {
    for (const std::string& name : {spec.name, spec.reference}) {
      const std::string path = fmt::format("{}/profiles/{}.csv", ConfigDirectory(), name);
      if (name.empty() || !FileExists(path)) continue;
      if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
    }
  }
  return paths;
}

}  // namespace drydock
