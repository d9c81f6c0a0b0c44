#include "drydock/shipped/shipped_files.h"

#include <algorithm>
#include <filesystem>

#include "core/base/files.h"
#include "core/base/installation.h"

namespace drydock {
namespace {

struct Kind {
  const char* folder;
  std::vector<std::string> extensions;  // the preferred one first
};

const Kind& Of(ShippedKind kind) {
  static const Kind kinds[] = {{"models", {".yaml", ".json"}},
                               {"clusters", {".topo"}},
                               {"gpus", {".yaml"}},
                               {"failures", {".yaml"}}};
  return kinds[static_cast<size_t>(kind)];
}

std::string FolderOf(ShippedKind kind) { return ConfigDirectory() + "/" + Of(kind).folder; }

bool IsRegularFile(const std::string& path) {
  std::error_code failed;
  return std::filesystem::is_regular_file(path, failed);
}

}  // namespace

std::vector<std::string> ShippedNames(ShippedKind kind) {
  const std::vector<std::string>& extensions = Of(kind).extensions;
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(FolderOf(kind), failed)) {
    const std::string extension = entry.path().extension().string();
    if (std::find(extensions.begin(), extensions.end(), extension) == extensions.end()) continue;
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string ShippedFile(ShippedKind kind, const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos) return "";
  const std::string path = FolderOf(kind) + "/" + name;
  for (const std::string& extension : Of(kind).extensions) {
    if (name.ends_with(extension) && IsRegularFile(path)) return path;
    if (IsRegularFile(path + extension)) return path + extension;
  }
  return "";
}

std::string FileMeant(ShippedKind kind, const std::string& name) {
  std::error_code failed;
  const bool exists = std::filesystem::exists(name, failed);
  // A folder of this name is not what is meant.
  if (exists && !std::filesystem::is_directory(name, failed)) return name;
  const std::string shipped = ShippedFile(kind, name);
  return shipped.empty() ? name : shipped;
}

std::vector<std::string> WithShippedClusters(std::vector<std::string> arguments) {
  const std::string option = "--cluster", joined = option + "=";
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == option && i + 1 < arguments.size()) {
      arguments[i + 1] = FileMeant(ShippedKind::kCluster, arguments[i + 1]);
    } else if (arguments[i].starts_with(joined)) {
      arguments[i] = joined + FileMeant(ShippedKind::kCluster, arguments[i].substr(joined.size()));
    }
  }
  return arguments;
}

}  // namespace drydock
