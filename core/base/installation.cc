#include "core/base/installation.h"

#include <cctype>
#include <filesystem>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/process.h"

namespace drydock {
namespace {

// The folder that has bin/, of an installed tree and of a build tree alike.
std::string Prefix() { return DirectoryOf(FolderOfExecutable()); }

// A place of an installed tree, or else of the trees that CMake was given.
std::string Place(const std::string& installed, const std::string& built) {
  return IsInstalled() ? Prefix() + "/" + installed : built;
}

}  // namespace

const char* DrydockVersion() { return DRYDOCK_VERSION; }

bool IsInstalled() {
  std::error_code failed;
  return std::filesystem::is_directory(Prefix() + "/share/drydock/configs/gpus", failed);
}

std::string ConfigDirectory() {
  return Place("share/drydock/configs", DRYDOCK_SOURCE_TREE "/configs");
}

std::string DocsDirectory() { return Place("share/doc/drydock", DRYDOCK_SOURCE_TREE "/docs"); }

std::string NcclDirectory() { return Place("lib/drydock", DRYDOCK_DEPENDENCIES "/nccl"); }

std::string SourceDirectory() { return Place("share/drydock", DRYDOCK_SOURCE_TREE); }

std::string CaptureLibraryDirectory() {
  return Prefix() + (IsInstalled() ? "/lib/drydock" : "/lib");
}

std::string BuiltCommit() {
  const std::string path = Prefix() + (IsInstalled() ? "/share/drydock/commit" : "/commit");
  const Result<std::string> text = FileExists(path) ? ReadFile(path) : Result<std::string>("");
  std::string commit;
  if (!text.ok()) return commit;
  for (const char letter : *text) {
    if (std::isxdigit(static_cast<unsigned char>(letter)) == 0) break;
    commit += letter;
  }
  return commit;
}

}  // namespace drydock
